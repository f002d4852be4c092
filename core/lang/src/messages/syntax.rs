//! Messages of the parsers: syntax of files in the native and the JSON form, blocks and their labels.

use formwork_value::messages;

messages! {
    "Syntax"
    SYNTAX

    FW1001 UNSUPPORTED_ARGUMENT = "Unsupported argument",
        "The block has an argument that its type does not define.",
        "Correct the name, or remove the argument. The documentation of the block lists the arguments.";

    FW1002 EXTRA_CHARACTERS_IN_MARKER = "Extra characters in {keyword} marker",
        "A template directive contains extra characters before its closing brace.",
        "Remove the extra characters between the directive and the brace.";

    FW1003 INVALID_STRING_LITERAL = "Invalid string literal",
        "A string that must be literal contains an interpolation or a character that is not allowed in it.",
        "Write only literal characters between the quotes. To write a dollar or percent sign before a brace, double the sign.";

    FW1004 UNEXPECTED_DIRECTIVE = "Unexpected {keyword} directive",
        "A template has an `else`, `endif` or `endfor` without the directive that it belongs to, or in the wrong order.",
        "Open the matching `if` or `for` before it, or remove it.";

    FW1005 DUPLICATE_ATTRIBUTE_DEFINITION = "Duplicate attribute definition",
        "The same attribute is set twice in a JSON body.",
        "Keep one of the two.";

    FW1006 EXTRANEOUS_JSON_OBJECT_PROPERTY = "Extraneous JSON object property",
        "A property of a JSON object is neither an argument nor a block type that is allowed there.",
        "Correct the name of the property, or remove it.";

    FW1007 EXTRANEOUS_LABEL = "Extraneous label for {block_type}",
        "A block has more labels than its type takes.",
        "Remove the extra label.";

    FW1008 MISSING_LABEL = "Missing {label} for {block_type}",
        "A block has fewer labels than its type requires.",
        "Add the missing label in quotes between the block type and the opening brace.";

    FW1009 UNEXPECTED_BLOCK = "Unexpected {block_type} block",
        "A body that may only contain arguments contains a block.",
        "Set the value as an argument, with an equals sign, or move the block to where it is allowed.";

    FW1010 UNSUPPORTED_BLOCK_TYPE = "Unsupported block type",
        "The body contains a block of a type that is not defined there.",
        "Correct the block type. If it is an argument, set it with an equals sign.";

    FW1011 DUPLICATE_ARGUMENT = "Duplicate argument",
        "An argument is set twice in the same body.",
        "Keep one of the two.";

    FW1012 INCORRECT_JSON_VALUE_TYPE = "Incorrect JSON value type",
        "A JSON value has another type than its position requires, such as a string instead of an object.",
        "Use an object for blocks, and an array of objects for several blocks of one type.";

    FW1013 MISSING_BLOCK_LABEL = "Missing block label",
        "A JSON object for a labelled block has no property for the label.",
        "Nest the body in an object whose property name is the label.";

    FW1014 ROOT_VALUE_MUST_BE_OBJECT = "Root value must be object",
        "The outermost value of a JSON configuration file is not an object.",
        "Put the content of the file in one object.";

    FW1015 EXTRANEOUS_DATA_AFTER_VALUE = "Extraneous data after value",
        "A JSON file contains data after the end of its outermost value.",
        "Remove the data after the closing brace, or the extra brace before it.";

    FW1016 INVALID_JSON_KEYWORD = "Invalid JSON keyword",
        "JSON contains a bare word that is not `true`, `false` or `null`.",
        "Put the word in quotes, or correct its spelling.";

    FW1017 INVALID_JSON_NUMBER = "Invalid JSON number",
        "JSON contains a number in a form that JSON does not allow, for example with leading zeros.",
        "Write the number in decimal digits, or put it in quotes as a string.";

    FW1018 INVALID_JSON_STRING = "Invalid JSON string",
        "A JSON string is not closed, or contains a line end or an escape sequence that JSON does not allow.",
        "Close the string on the same line, and escape backslashes and control characters.";

    FW1019 MISSING_PROPERTY_VALUE_COLON = "Missing property value colon",
        "The name of a JSON property is not followed by a colon.",
        "Write a colon between the name and the value.";

    FW1020 TOO_MANY_NESTED_LEVELS = "Too many nested levels",
        "Brackets, operators or blocks are nested deeper than Formwork accepts.",
        "Move inner parts into local values.";

    FW1021 TRAILING_COMMA = "Trailing comma in {container}",
        "A JSON object or array has a comma after its last item.",
        "Remove the comma. JSON does not allow it.";

    FW1022 UNCLOSED_OBJECT = "Unclosed object",
        "A JSON file ends within an object or array.",
        "Add the closing brace or bracket. The file may have been cut off.";

    FW1023 EXTRA_CHARACTERS_AFTER_EXPRESSION = "Extra characters after expression",
        "More than one expression is written where one is expected.",
        "Remove the characters after the first expression, or join the two expressions with an operator.";

    FW1024 ARGUMENT_DEFINITION_REQUIRED = "Argument definition required",
        "A block on one line contains a nested block, but may contain one argument only.",
        "Write the outer block on several lines.";

    FW1025 ARGUMENT_OR_BLOCK_DEFINITION_REQUIRED = "Argument or block definition required",
        "A line of a body is neither an argument nor a block.",
        "Write `name = value` for an argument, or a block type, its labels and an opening brace on the same line.";

    FW1026 ATTRIBUTE_REDEFINED = "Attribute redefined",
        "An argument is set twice in the same block.",
        "Keep one of the two.";

    FW1027 INVALID_ARGUMENT_NAME = "Invalid argument name",
        "The name of an argument is in quotes.",
        "Write the name without quotes.";

    FW1028 INVALID_BLOCK_DEFINITION = "Invalid block definition",
        "The header of a block is not of the form: type, labels, opening brace, all on one line.",
        "Write the labels in quotes and the opening brace on the line of the block type.";

    FW1029 INVALID_SINGLE_ARGUMENT_BLOCK_DEFINITION = "Invalid single-argument block definition",
        "A block on one line contains more than one argument, or its closing brace is missing.",
        "Write the block on several lines, with one argument on each.";

    FW1030 MISSING_NEWLINE = "Missing newline after {item}",
        "Something follows an argument or a block on the same line.",
        "Start a new line after each argument and each block.";

    FW1031 UNCLOSED_CONFIGURATION_BLOCK = "Unclosed configuration block",
        "A block is not closed before the end of the file.",
        "Add the closing brace. Check the indentation for the block that it is missing from.";

    FW1032 UNEXPECTED_COMMA_AFTER_ARGUMENT = "Unexpected comma after argument",
        "An argument of a block is followed by a comma.",
        "Remove the comma. Arguments are separated by line ends.";

    FW1033 UNTERMINATED_STRING_LITERAL = "Unterminated string literal",
        "A string in quotes is not closed on its line.",
        "Add the closing quote, or use a heredoc for text of several lines.";

    FW1034 INVALID_FOR_EXPRESSION = "Invalid 'for' expression",
        "A `for` expression lacks one of its parts, or its parts are in the wrong order.",
        "Write `[for value in collection : result]`, or `{for key, value in collection : key => result}` for an object.";

    FW1035 INVALID_FOR_PART = "Invalid 'for' {element}",
        "A `for` expression or directive has no valid name or no `in` where one is required.",
        "Write one or two names, separated by a comma, then `in` and the collection.";

    FW1036 MISSING_ARGUMENT_SEPARATOR = "Missing argument separator",
        "Two arguments of a function call are not separated by a comma.",
        "Add the comma, or the closing parenthesis if the call ends there.";

    FW1037 MISSING_FUNCTION_NAME = "Missing function name",
        "The name of a function ends with a separator.",
        "Write the name of the function after `::`.";

    FW1038 MISSING_ITEM_SEPARATOR = "Missing item separator",
        "Two items of a list are not separated by a comma.",
        "Add the comma, or the closing bracket if the list ends there.";

    FW1039 MISSING_OPEN_PARENTHESIS = "Missing open parenthesis",
        "The name of a function in a namespace is not followed by a parenthesis.",
        "Write the arguments of the function in parentheses.";

    FW1040 UNTERMINATED_FUNCTION_CALL = "Unterminated function call",
        "A function call is not closed before the end of the file.",
        "Add the closing parenthesis.";

    FW1041 UNTERMINATED_OBJECT_CONSTRUCTOR_EXPRESSION = "Unterminated object constructor expression",
        "An object in braces is not closed before the end of the file.",
        "Add the closing brace.";

    FW1042 UNTERMINATED_TUPLE_CONSTRUCTOR_EXPRESSION = "Unterminated tuple constructor expression",
        "A list in brackets is not closed before the end of the file.",
        "Add the closing bracket.";

    FW1043 MISSING_EXPRESSION = "Missing expression",
        "A value is required, but the expression ends before it.",
        "Write a value after the equals sign or the operator.";

    FW1044 MISSING_FALSE_EXPRESSION_IN_CONDITIONAL = "Missing false expression in conditional",
        "A conditional has a question mark but no colon with the second result.",
        "Write `condition ? result : other_result`.";

    FW1045 UNBALANCED_PARENTHESES = "Unbalanced parentheses",
        "A parenthesis is not closed where its expression ends.",
        "Add the closing parenthesis, or remove the opening one.";

    FW1046 INVALID_ESCAPE_SEQUENCE = "Invalid escape sequence",
        "A backslash in a string is followed by a character that it cannot escape.",
        "Use one of `\\n`, `\\r`, `\\t`, `\\\"`, `\\\\`, `\\uNNNN`, `\\UNNNNNNNN`, or write the backslash twice.";

    FW1047 INVALID_NUMBER_LITERAL = "Invalid number literal",
        "A number has a form that is not allowed, for example two decimal points.",
        "Write decimal digits with at most one point and an exponent. Put other text in quotes.";

    FW1048 INVALID_CHARACTER = "Invalid character",
        "The file contains a character that is not used within the language.",
        "Remove the character, or put it in a string. Strings need straight double quotes.";

    FW1049 INVALID_MULTI_LINE_STRING = "Invalid multi-line string",
        "A string in quotes continues on the next line.",
        "Write `\\n` for a line end, or use a heredoc such as `<<EOT`.";

    FW1050 UNSUPPORTED_OPERATOR = "Unsupported operator",
        "The expression uses an operator of another language.",
        "Combine conditions with the operators of the language, and use the function `pow` for powers. There are no bitwise operators.";

    FW1051 EXTRA_CHARACTERS_AFTER_INTERPOLATION_EXPRESSION = "Extra characters after interpolation expression",
        "An interpolation contains more than one expression.",
        "Close the interpolation with a brace after its expression.";

    FW1052 INVALID_TEMPLATE_CONTROL_KEYWORD = "Invalid template control keyword",
        "A template directive begins with a word that is not a directive.",
        "Use `if`, `else`, `endif`, `for` or `endfor`. To write the sequence itself, double the percent sign.";

    FW1053 INVALID_TEMPLATE_DIRECTIVE = "Invalid template directive",
        "A template directive has no keyword.",
        "Write `if`, `else`, `endif`, `for` or `endfor` after the opening brace.";

    FW1054 UNCLOSED_TEMPLATE_INTERPOLATION_SEQUENCE = "Unclosed template interpolation sequence",
        "An interpolation is not closed before its string ends.",
        "Add the closing brace. To write a dollar sign before a brace, double the sign.";

    FW1055 UNEXPECTED_ELSE_DIRECTIVE = "Unexpected else directive",
        "A template condition has a second `else`.",
        "Keep one `else` for each `if`.";

    FW1056 UNEXPECTED_END_OF_TEMPLATE = "Unexpected end of template",
        "A template ends before one of its directives is closed.",
        "Add the missing `endif` or `endfor`.";

    FW1057 INVALID_ATTRIBUTE_NAME = "Invalid attribute name",
        "A period is not followed by the name of an attribute.",
        "Write the name after the period, or use an index in brackets for a name with other characters.";

    FW1058 INVALID_LEGACY_INDEX_SYNTAX = "Invalid legacy index syntax",
        "An index after a period has a fraction, as in `list.0.1`.",
        "Write each index in brackets, as in `list[0][1]`.";

    FW1059 MISSING_CLOSE_BRACKET_ON_INDEX = "Missing close bracket on index",
        "The bracket of an index is not closed after its key.",
        "Add the closing bracket.";

    FW1060 MISSING_CLOSE_BRACKET_ON_SPLAT_INDEX = "Missing close bracket on splat index",
        "The `[*` of a splat expression is not closed.",
        "Add the closing bracket directly after the asterisk.";

    FW1061 INVALID_CHARACTER_ENCODING = "Invalid character encoding",
        "A file is not encoded in UTF-8.",
        "Save the file as UTF-8. The editor may have used UTF-16 or a local code page.";

    FW1062 MISMATCHED_BRACES = "Mismatched braces",
        "A JSON object ends with a closing bracket instead of a closing brace.",
        "Close the object with a brace.";

    FW1063 MISMATCHED_BRACKETS = "Mismatched brackets",
        "A JSON array ends with a closing brace instead of a closing bracket.",
        "Close the array with a bracket.";

    FW1064 MISSING_ATTRIBUTE_SEPARATOR = "Missing attribute separator",
        "Two items of an object are neither separated by a comma nor on separate lines.",
        "Add a comma or a line end between them.";

    FW1065 MISSING_ATTRIBUTE_SEPERATOR_COMMA = "Missing attribute seperator comma",
        "Two properties of a JSON object are not separated by a comma.",
        "Add the comma.";

    FW1066 MISSING_ATTRIBUTE_VALUE = "Missing attribute value",
        "An item of an object has a key but no value.",
        "Write an equals sign and a value after the key.";

    FW1067 MISSING_CLOSING_PARENTHESIS = "Missing closing parenthesis",
        "Something follows the `...` of an expanded argument.",
        "Close the call after `...`. Only the last argument can be expanded.";

    FW1068 MISSING_ITEM_SEPERATOR_COMMA = "Missing item seperator comma",
        "Two items of a JSON array are not separated by a comma.",
        "Add the comma.";

    FW1069 MISSING_KEY_VALUE_SEPARATOR = "Missing key/value separator",
        "The key of an object item is not followed by an equals sign or a colon.",
        "Write `key = value`. Put a key that is an expression in parentheses.";

    FW1070 NESTED_SPLAT_EXPRESSION_NOT_ALLOWED = "Nested splat expression not allowed",
        "A legacy splat (`.*`) is nested in another one.",
        "Write `[*]` for both.";

    FW1071 UNTERMINATED_TEMPLATE_STRING = "Unterminated template string",
        "A template is not closed before the end of the file.",
        "Add the closing quote, or the end marker of the heredoc on a line of its own.";

    FW1072 INCORRECT_ATTRIBUTE_VALUE_TYPE = "Incorrect attribute value type",
        "The value of an argument has another type than the argument requires, and cannot be converted.",
        "Change the expression to one of the required type. The detail names the type and the first difference.";

    FW1073 DUPLICATE_BLOCK = "Duplicate {block_type} block",
        "A block that may occur once occurs twice.",
        "Keep one of the blocks, or merge their arguments.";

    FW1074 INSUFFICIENT_BLOCKS = "Insufficient {block_type} blocks",
        "The body contains fewer blocks of a type than are required.",
        "Add the missing blocks.";

    FW1075 MISSING_BLOCK = "Missing {block_type} block",
        "A required block is missing.",
        "Add the block.";

    FW1076 TOO_MANY_BLOCKS = "Too many {block_type} blocks",
        "The body contains more blocks of a type than are allowed.",
        "Remove the extra blocks.";

    FW1077 MISSING_REQUIRED_ARGUMENT = "Missing required argument",
        "A block lacks an argument that its type requires.",
        "Add the argument to the block.";

    FW1078 INVALID_START_OF_VALUE = "Invalid start of value",
        "A JSON value begins with a character that cannot start a value.",
        "Write a value: an object, an array, a string in quotes, a number, or one of true, false and null.";

    FW1079 MISSING_VALUE = "Missing value",
        "A JSON file ends where a value is required.",
        "Add the value. The file may have been cut off.";

    FW1080 INVALID_OBJECT_PROPERTY_NAME = "Invalid object property name",
        "The name of a JSON property is not a string in quotes.",
        "Put the name in double quotes.";
}
