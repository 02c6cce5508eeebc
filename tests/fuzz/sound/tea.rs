/// Tea
pub fn tea<'a>(x: &'a str) -> u8 { match x { _ => 1 } }
