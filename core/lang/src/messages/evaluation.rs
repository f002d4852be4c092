//! Messages of expressions: operators, functions, types and dynamic blocks.

use formwork_value::messages;

messages! {
    "Expressions and functions"
    EVALUATION

    FW1201 INCORRECT_KEY_TYPE = "Incorrect key type",
        "The key of an object item cannot be converted to a string.",
        "Use a string, a number or a bool as key.";

    FW1202 INVALID_OBJECT_KEY_EXPRESSION = "Invalid object key expression",
        "The key of a JSON object is a template whose result is not a string.",
        "Use a template with a string as its result.";

    FW1203 EXTRANEOUS_DYNAMIC_BLOCK_LABEL = "Extraneous dynamic block label",
        "A `dynamic` block sets more labels than its blocks take.",
        "Remove the extra elements of `labels`.";

    FW1204 EXTRANEOUS_DYNAMIC_CONTENT_BLOCK = "Extraneous dynamic content block",
        "A `dynamic` block contains more than one `content` block.",
        "Keep one `content` block.";

    FW1205 INSUFFICIENT_DYNAMIC_BLOCK_LABELS = "Insufficient dynamic block labels",
        "A `dynamic` block sets fewer labels than its blocks need.",
        "Add the missing elements to `labels`.";

    FW1206 INVALID_DYNAMIC_BLOCK_LABEL = "Invalid dynamic block label",
        "The label of a `dynamic` block is not a known string without marks.",
        "Use labels that are strings, known during planning, and neither sensitive nor ephemeral.";

    FW1207 INVALID_DYNAMIC_FOR_EACH_VALUE = "Invalid dynamic for_each value",
        "The `for_each` of a `dynamic` block is null or cannot be iterated.",
        "Use a list, set or map. An empty collection generates no blocks.";

    FW1208 INVALID_DYNAMIC_ITERATOR_NAME = "Invalid dynamic iterator name",
        "The `iterator` of a `dynamic` block is not a single name.",
        "Write a plain name without quotes and periods.";

    FW1209 INVALID_EXPRESSION = "Invalid expression",
        "The expression is neither a value nor a name.",
        "Correct the expression. Put strings in quotes, and write names without them.";

    FW1210 MISSING_DYNAMIC_CONTENT_BLOCK = "Missing dynamic content block",
        "A `dynamic` block needs a `content` block for the body of the generated blocks.",
        "Put the arguments of the generated blocks in a `content` block.";

    FW1211 EXPRESSION_TOO_LARGE = "Expression too large",
        "The result of an expression or the work to evaluate it exceeds a limit of Formwork.",
        "Split the expression, or reduce the size of its inputs.";

    FW1212 ATTEMPT_TO_GET_ATTRIBUTE_FROM_NULL_VALUE = "Attempt to get attribute from null value",
        "An attribute is read from a value that is null.",
        "Test the value with `!= null` first, or use `try` with a fallback.";

    FW1213 ATTEMPT_TO_INDEX_NULL_VALUE = "Attempt to index null value",
        "An element is read from a value that is null.",
        "Test the value with `!= null` first, or use `try` with a fallback.";

    FW1214 INVALID_INDEX = "Invalid index",
        "An element does not exist, or the type of the value has no elements.",
        "Use an existing key or index. `lookup` and `try` accept a fallback.";

    FW1215 MISSING_MAP_ELEMENT = "Missing map element",
        "A map has no element with the given key.",
        "Use an existing key, or `lookup` with a default.";

    FW1216 UNSUPPORTED_ATTRIBUTE = "Unsupported attribute",
        "A value has no attribute with the given name.",
        "Correct the name. The detail suggests a similar name if one exists.";

    FW1217 CALL_TO_UNKNOWN_FUNCTION = "Call to unknown function",
        "A function with the given name does not exist.",
        "Correct the name. Call provider functions as `provider::NAME::FUNCTION`.";

    FW1218 ERROR_IN_FUNCTION_CALL = "Error in function call",
        "A function refused its arguments or failed.",
        "Correct the arguments according to the reason in the detail.";

    FW1219 FUNCTION_CALLS_NOT_ALLOWED = "Function calls not allowed",
        "A function is called where values must be constant.",
        "Write the value as a literal.";

    FW1220 INVALID_EXPANDING_ARGUMENT_VALUE = "Invalid expanding argument value",
        "The last argument with `...` is null or not a list, set or tuple.",
        "Expand a list, set or tuple.";

    FW1221 INVALID_FUNCTION_ARGUMENT = "Invalid function argument",
        "An argument of a function cannot be converted to the type of the parameter.",
        "Pass a value of the type that the detail names.";

    FW1222 NOT_ENOUGH_FUNCTION_ARGUMENTS = "Not enough function arguments",
        "A function is called with fewer arguments than it requires.",
        "Add the missing arguments.";

    FW1223 TOO_MANY_FUNCTION_ARGUMENTS = "Too many function arguments",
        "A function is called with more arguments than it takes.",
        "Remove the extra arguments.";

    FW1224 UNKNOWN_PROVIDER_FUNCTION = "Unknown provider function",
        "The provider has no function with the given name, or the module does not require the provider.",
        "Correct the name, and list the provider in `required_providers`.";

    FW1225 AMBIGUOUS_ATTRIBUTE_KEY = "Ambiguous attribute key",
        "The key of an object item is a traversal with periods, which could be a reference or a string.",
        "Put the key in parentheses to use the value of this reference, or in quotes to use the literal string.";

    FW1226 CONDITION_IS_NULL = "Condition is null",
        "The `if` of a `for` expression is null.",
        "Ensure that the condition is true or false for each element, for example with `coalesce`.";

    FW1227 DUPLICATE_OBJECT_ATTRIBUTE = "Duplicate object attribute",
        "An object literal has the same key twice.",
        "Remove one of the items.";

    FW1228 DUPLICATE_OBJECT_KEY = "Duplicate object key",
        "A `for` expression produces the same key for two elements.",
        "Use a unique key, or write `...` after the result to group the values by key.";

    FW1229 INVALID_FOR_CONDITION = "Invalid 'for' condition",
        "The `if` of a `for` expression is not a bool.",
        "Use a condition that is true or false.";

    FW1230 INVALID_OBJECT_KEY = "Invalid object key",
        "The key of a `for` expression is null or cannot be a string.",
        "Use a string, a number or a bool as key.";

    FW1231 ITERATION_OVER_NON_ITERABLE_VALUE = "Iteration over non-iterable value",
        "A `for` expression iterates over a value that is not a collection.",
        "Use a list, set, map, tuple or object.";

    FW1232 ITERATION_OVER_NULL_VALUE = "Iteration over null value",
        "A `for` expression iterates over a null value.",
        "Use a collection, or `coalesce` with an empty one.";

    FW1233 NULL_VALUE_AS_KEY = "Null value as key",
        "The key of an object item is null.",
        "Use a key that is not null.";

    FW1234 INCONSISTENT_CONDITIONAL_RESULT_TYPES = "Inconsistent conditional result types",
        "The two results of a conditional have types that cannot be converted to one.",
        "Convert one of the results, or use the same attributes and element types in both.";

    FW1235 INCORRECT_CONDITION_TYPE = "Incorrect condition type",
        "The condition of a conditional is not a bool.",
        "Use a comparison or another expression that is true or false.";

    FW1236 INVALID_OPERAND = "Invalid operand",
        "An operand cannot be converted to the type that the operator requires.",
        "Convert the operand, or use another operator.";

    FW1237 NULL_CONDITION = "Null condition",
        "The condition of a conditional is null.",
        "Ensure that the condition is true or false, for example with `coalesce`.";

    FW1238 OPERATION_FAILED = "Operation failed",
        "An operation has no result, such as a division by zero.",
        "Change the operands.";

    FW1239 SPLAT_OF_NULL_VALUE = "Splat of null value",
        "A splat expression is applied to a collection that is null.",
        "Use a collection that is not null, or `coalesce` with an empty one.";

    FW1240 INVALID_TEMPLATE_INTERPOLATION_VALUE = "Invalid template interpolation value",
        "An interpolation in a string is null or cannot be converted to a string.",
        "Use a string, number or bool. Encode other values, for example with `jsonencode`.";

    FW1241 INVALID_REFERENCE = "Invalid reference",
        "An expression contains a reference that is not allowed there or is incomplete.",
        "Correct this reference. A resource needs its type and name, a module call the name of an output.";

    FW1242 INVALID_DEFAULT_VALUE_FOR_OPTIONAL_ATTRIBUTE = "Invalid default value for optional attribute",
        "The default of an `optional` attribute does not fit the type of the attribute.",
        "Use a default of the declared type.";

    FW1243 INVALID_QUOTED_TYPE_CONSTRAINTS = "Invalid quoted type constraints",
        "A type is written in quotes, as in old configurations.",
        "Write the type without quotes, such as `string` or `list(string)`.";

    FW1244 INVALID_TYPE_SPECIFICATION = "Invalid type specification",
        "The expression is not a type.",
        "Use `string`, `number`, `bool`, `any`, or `list`, `set`, `map`, `object` or `tuple` with their element types.";

    FW1245 VARIABLES_NOT_ALLOWED = "Variables not allowed",
        "A reference is used where values must be constant.",
        "Write the value as a literal.";

    FW1246 INVALID_LEGACY_VARIABLE_TYPE_HINT = "Invalid legacy variable type hint",
        "A type other than `string`, `list` and `map` is written in quotes.",
        "Remove the quotes around the type.";
}
