//! What of a service's own words is passed on: reasons of throttling, and texts without the values
//! of rows.

use serde_json::Value;

use crate::Throttle;

/// The reasons in an error's body.
pub(super) fn throttling_reasons(body: &[u8]) -> Vec<Throttle> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let reasons = body
        .get("ThrottlingReasons")
        .or_else(|| body.get("throttlingReasons"));
    let text = |reason: &Value, name: &str| {
        let member = reason.get(name).and_then(Value::as_str);
        member.map(str::to_owned)
    };
    reasons
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|reason| {
            Some(Throttle {
                reason: text(reason, "reason")?,
                resource: text(reason, "resource").unwrap_or_default(),
            })
        })
        .collect()
}

/// A service's text without the values of rows that it quotes: `'…'`, `[…]`, and what follows the
/// words for an unreadable number.
pub(crate) fn without_values(text: &str) -> String {
    let text = match text.split_once("numeric value: ") {
        Some((before, _)) => format!("{before}numeric value"),
        None => text.to_owned(),
    };
    let mut shown = String::with_capacity(text.len());
    let (mut closing, mut before) = (None, ' ');
    for character in text.chars() {
        let in_word = std::mem::replace(&mut before, character).is_alphanumeric();
        match closing {
            Some(end) if character == end => closing = None,
            Some(_) => continue,
            None => {
                closing = match character {
                    // Not the one of "doesn't".
                    '\'' if !in_word => Some('\''),
                    '[' => Some(']'),
                    _ => None,
                };
                if closing.is_some() {
                    shown.push(character);
                    shown.push('…');
                    continue;
                }
            }
        }
        shown.push(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_of_messages() {
        assert_eq!(
            without_values("Value 'geheim' at 'key' failed; input [geheim, geheim] is twice"),
            "Value '…' at '…' failed; input […] is twice"
        );
        assert_eq!(without_values("doesn't fit 'x'"), "doesn't fit '…'");
        assert_eq!(
            without_values("The parameter cannot be converted to a numeric value: geheim"),
            "The parameter cannot be converted to a numeric value"
        );
    }

    #[test]
    fn the_reasons_of_throttling_are_passed_on() {
        let body = br#"{"ThrottlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded","resource":"arn:x"}]}"#;
        assert_eq!(
            throttling_reasons(body),
            [Throttle {
                reason: "TableWriteKeyRangeThroughputExceeded".to_owned(),
                resource: "arn:x".to_owned(),
            }]
        );
        assert!(throttling_reasons(b"not json").is_empty());
    }
}
