//! Values that come, go or stay as a whole: every line has the same sign.

use formwork_value::Value;

use super::{Differ, Sign, is_hidden, members, text};
use crate::view::human::value::{SENSITIVE, bare, quoted, scalar};

impl Differ<'_> {
    /// Renders a value whose first line stands where the caller is; `note` goes behind the first
    /// line, and a closing bracket stands at `at`.
    pub(super) fn whole(&self, sign: Sign, value: &Value, note: &str, at: usize) -> String {
        if is_hidden(value) {
            return format!("{SENSITIVE}{note}");
        }
        let end = " ".repeat(at);
        match value.peek() {
            inner @ (Value::List(_) | Value::Set(_) | Value::Tuple(_)) => {
                if inner.children().is_empty() {
                    return format!("[]{note}");
                }
                let lines = inner.children().iter().map(|item| {
                    self.line(sign, &format!("{},", self.whole(sign, item, "", at + 4)), at + 4)
                });
                format!("[{note}\n{}{end}]", lines.collect::<String>())
            }
            inner @ (Value::Map(_) | Value::Object(_)) => {
                let is_map = matches!(inner, Value::Map(_));
                let name = if is_map && !self.free { quoted } else { bare };
                let pairs: Vec<_> = members(inner)
                    .filter(|(_, value)| is_map || self.free || !value.is_null())
                    .map(|(key, value)| (name(key), value))
                    .collect();
                if pairs.is_empty() {
                    return format!("{{}}{note}");
                }
                let width = pairs.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
                let lines = pairs.iter().map(|(key, value)| {
                    let space = " ".repeat(width - key.chars().count());
                    let value = self.whole(sign, value, "", at + 4);
                    self.line(sign, &format!("{key}{space} = {value}"), at + 4)
                });
                format!("{{{note}\n{}{end}}}", lines.collect::<String>())
            }
            Value::String(string) => match text::json(string) {
                Some(value) => {
                    let free = Differ { free: true, ..*self };
                    let value = free.whole(sign, &value, "", at + 4);
                    text::encoded(&value, note, at)
                }
                None if string.contains('\n') => {
                    let margin = " ".repeat(at + 4);
                    let lines = text::lines(string).map(|line| format!("{margin}{line}\n"));
                    format!("<<-EOT{note}\n{}{end}EOT", lines.collect::<String>())
                }
                None => format!("{}{note}", quoted(string)),
            },
            // In a plan no zero has a sign; in a state that is shown it has.
            Value::Number(number) if self.signs && number.is_zero() => format!("0{note}"),
            other => format!("{}{note}", scalar(other)),
        }
    }
}
