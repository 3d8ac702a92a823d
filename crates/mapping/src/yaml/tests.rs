use super::*;

#[test]
fn every_key_and_value_knows_its_place() {
    let text = "table:\n  name: 'x'\n  list: [a, \"b\"]\n";
    let root = parse(text).unwrap();
    let table = root.get("table").unwrap();
    let entry = &table.entries()[0];
    assert_eq!(&text[entry.key_span.clone()], "name");
    assert_eq!(&text[entry.value.span.clone()], "'x'");
    let list = table.get("list").unwrap();
    assert_eq!(&text[list.elements()[1].span.clone()], "\"b\"");
    assert_eq!(&text[list.span.clone()], "[a, \"b\"]");
    assert_eq!(&text[table.span.clone()], "name: 'x'\n  list: [a, \"b\"]");
}

#[test]
fn an_unquoted_template_is_seen() {
    let root = parse("a: {price}\nb: {id | pad(8, 2)}\nc: {x: y}\nd: \"{price}\"").unwrap();
    let seen = |key| root.get(key).map(YamlNode::is_unquoted_template);
    assert_eq!(seen("a"), Some(true));
    assert_eq!(seen("b"), Some(true));
    assert_eq!(seen("c"), Some(false));
    assert_eq!(seen("d"), Some(false));
}

#[test]
fn broken_yaml_names_the_place() {
    let fault = parse("a: [1, 2\nb: 3\n").unwrap_err();
    assert_eq!(fault.code, Code::Yaml);
    assert!(fault.span.start > 5, "{fault:?}");
}

#[test]
fn aliases_are_followed_and_cannot_explode() {
    let root = parse("a: &x {k: v}\nb: *x").unwrap();
    assert_eq!(
        root.get("b")
            .and_then(|b| b.get("k"))
            .and_then(YamlNode::text),
        Some("v")
    );
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..8 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    let fault = parse(&bomb).unwrap_err();
    assert!(
        fault.message.contains("more than 200000 keys and values"),
        "{fault:?}"
    );
    let text = "a: &a [x, *a]";
    let fault = parse(text).unwrap_err();
    assert_eq!(
        fault.message,
        "this alias is inside the value that it stands for"
    );
    assert_eq!(&text[fault.span.clone()], "*a");
}

#[test]
fn aliases_nest_no_deeper_than_what_is_written_out() {
    // Each line nests 60 levels; those below it hang on its innermost one.
    let line = |at: usize, inner: &str| {
        format!(
            "a{at}: &a{at} {}{inner} {}\n",
            "[".repeat(60),
            "]".repeat(60)
        )
    };
    let mut text = line(0, "x");
    assert!(parse(&text).is_ok());
    text.push_str(&line(1, "*a0"));
    assert!(parse(&text).is_ok());
    text.push_str(&line(2, "*a1"));
    let fault = parse(&text).unwrap_err();
    assert_eq!(fault.message, "the file nests deeper than 128 levels");
    assert_eq!(&text[fault.span.clone()], "*a1");
    let nested = |levels| parse(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(nested(128).is_ok());
    assert!(nested(129).is_err());
}
