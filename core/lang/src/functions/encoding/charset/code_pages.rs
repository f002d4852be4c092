//! The names of character encodings, and the characters of those that the package does not support.

use encoding_rs::{self as rs, Encoding};

pub(super) const LATIN_1_NAMES: [&str; 7] =
    ["ISO_8859-1:1987", "ISO-8859-1", "ISO_8859-1", "iso-ir-100", "latin1", "l1", "csISOLatin1"];

pub(super) const ASCII_NAMES: [&str; 5] = ["US-ASCII", "ASCII", "us", "ISO646-US", "csASCII"];

/// Names of the encodings that the package supports.
pub(super) static NAMED_ENCODINGS: [(&[&str], &Encoding); 33] = [
    (&["ISO_8859-2:1987", "ISO-8859-2", "ISO_8859-2", "latin2", "l2"], rs::ISO_8859_2),
    (&["ISO_8859-3:1988", "ISO-8859-3", "ISO_8859-3", "latin3", "l3"], rs::ISO_8859_3),
    (&["ISO_8859-4:1988", "ISO-8859-4", "ISO_8859-4", "latin4", "l4"], rs::ISO_8859_4),
    (&["ISO_8859-5:1988", "ISO-8859-5", "ISO_8859-5", "cyrillic"], rs::ISO_8859_5),
    (&["ISO_8859-6:1987", "ISO-8859-6", "ISO_8859-6", "arabic"], rs::ISO_8859_6),
    (&["ISO_8859-7:1987", "ISO-8859-7", "ISO_8859-7", "greek"], rs::ISO_8859_7),
    (&["ISO_8859-8:1988", "ISO-8859-8", "ISO_8859-8", "hebrew"], rs::ISO_8859_8),
    (&["ISO-8859-10", "latin6", "l6"], rs::ISO_8859_10),
    (&["ISO-8859-13"], rs::ISO_8859_13),
    (&["ISO-8859-14", "ISO_8859-14", "latin8", "l8"], rs::ISO_8859_14),
    (&["ISO-8859-15", "ISO_8859-15", "Latin-9"], rs::ISO_8859_15),
    (&["ISO-8859-16", "ISO_8859-16", "latin10", "l10"], rs::ISO_8859_16),
    (&["windows-874", "cswindows874"], rs::WINDOWS_874),
    (&["windows-1250", "cswindows1250"], rs::WINDOWS_1250),
    (&["windows-1251", "cswindows1251"], rs::WINDOWS_1251),
    (&["windows-1252", "cswindows1252"], rs::WINDOWS_1252),
    (&["windows-1253", "cswindows1253"], rs::WINDOWS_1253),
    (&["windows-1254", "cswindows1254"], rs::WINDOWS_1254),
    (&["windows-1255", "cswindows1255"], rs::WINDOWS_1255),
    (&["windows-1256", "cswindows1256"], rs::WINDOWS_1256),
    (&["windows-1257", "cswindows1257"], rs::WINDOWS_1257),
    (&["windows-1258", "cswindows1258"], rs::WINDOWS_1258),
    (&["KOI8-R", "csKOI8R"], rs::KOI8_R),
    (&["KOI8-U", "csKOI8U"], rs::KOI8_U),
    (&["IBM866", "cp866", "866", "csIBM866"], rs::IBM866),
    (&["macintosh", "mac", "csMacintosh"], rs::MACINTOSH),
    (&["Shift_JIS", "MS_Kanji", "csShiftJIS"], rs::SHIFT_JIS),
    (&["EUC-JP", "csEUCPkdFmtJapanese"], rs::EUC_JP),
    (&["ISO-2022-JP", "csISO2022JP"], rs::ISO_2022_JP),
    (&["GBK", "CP936", "MS936", "windows-936", "csGBK"], rs::GBK),
    (&["GB18030", "csGB18030"], rs::GB18030),
    (&["Big5", "csBig5"], rs::BIG5),
    (&["EUC-KR", "csEUCKR"], rs::EUC_KR),
];

/// Names of code pages, and the characters of their upper half.
#[rustfmt::skip]
pub(super) const CODE_PAGE_UPPER_HALVES: [(&[&str], &str); 9] = [
    (&["IBM437", "cp437", "437"], "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
    (&["IBM850", "cp850", "850"], "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}"),
    (&["IBM852", "cp852", "852"], "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}"),
    (&["IBM855", "cp855", "855"], "ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u{ad}ыЫзЗшШэЭщЩчЧ§■\u{a0}"),
    (&["IBM00858", "CP00858", "PC-Multilingual-850+euro"], "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}"),
    (&["IBM860", "cp860", "860"], "ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
    (&["IBM862", "cp862", "862"], "אבגדהוזחטיךכלםמןנסעףפץצקרשת¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
    (&["IBM863", "cp863", "863"], "ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
    (&["IBM865", "cp865", "865"], "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
];
