//! What is built into the language, for those who point at it: a line each. docs/language.md has the whole of it.

use crate::world::view::View;
use sluice_grammar::span::Span;
use sluice_grammar::token::{Token, lex};

/// Name, signature (`T` is the type of the items; `number` an int, float or double, `real` one of the latter), what it does.
const ALL: &[(&str, &str, &str)] = &[
    ("pi", "float pi", "3.14159…; as precise as its place allows"),
    ("pop", "T pop()", "takes the next item from the input"),
    ("peek", "T peek(int i)", "looks at the item that is `i` places behind the next one, and leaves it there"),
    ("push", "push(T item)", "gives an item to the output"),
    ("iter", "int iter()", "how many firings this filter has completed"),
    ("print", "print(x)", "writes a value of a basic type, or text, to standard output"),
    ("println", "println(x)", "writes a value of a basic type, or text, to standard output, and ends the line"),
    ("abs", "number abs(number x)", "the absolute value; of a complex number its distance from 0"),
    ("acos", "real acos(real x)", "the angle, from 0 to pi, that has this cosine"),
    ("acosh", "real acosh(real x)", "the inverse hyperbolic cosine"),
    ("arg", "float arg(complex x)", "the angle of a complex number, from -pi to pi"),
    ("asin", "real asin(real x)", "the angle, from -pi/2 to pi/2, that has this sine"),
    ("asinh", "real asinh(real x)", "the inverse hyperbolic sine"),
    ("atan", "real atan(real x)", "the angle, from -pi/2 to pi/2, that has this tangent"),
    ("atan2", "real atan2(real y, real x)", "the angle, from -pi to pi, of the point (x, y)"),
    ("atanh", "real atanh(real x)", "the inverse hyperbolic tangent"),
    ("ceil", "real ceil(real x)", "the next whole number that is not less"),
    ("cos", "real cos(real x)", "the cosine of an angle in radians; of complex numbers, too"),
    ("cosh", "real cosh(real x)", "the hyperbolic cosine"),
    ("csqrt", "complex csqrt(complex x)", "the complex square root, of real numbers, too"),
    ("exp", "real exp(real x)", "e to the power of `x`; of complex numbers, too"),
    ("expm1", "real expm1(real x)", "e to the power of `x`, less 1: precise where `x` is small"),
    ("floor", "real floor(real x)", "the next whole number that is not greater"),
    ("fmod", "real fmod(real x, real y)", "what remains of `x` divided by `y`, with the sign of `x`"),
    ("log", "real log(real x)", "the natural logarithm; of complex numbers, too"),
    ("log10", "real log10(real x)", "the logarithm to base 10"),
    ("max", "number max(number x, number y)", "the greater of both; of two ints an int"),
    ("min", "number min(number x, number y)", "the less of both; of two ints an int"),
    ("pow", "real pow(real x, real y)", "`x` to the power of `y`"),
    ("rint", "real rint(real x)", "the nearest whole number; halves go to the even one"),
    ("round", "real round(real x)", "the nearest whole number; halves go away from 0"),
    ("sin", "real sin(real x)", "the sine of an angle in radians; of complex numbers, too"),
    ("sinh", "real sinh(real x)", "the hyperbolic sine"),
    ("sqrt", "real sqrt(real x)", "the square root; of complex numbers, too"),
    ("tan", "real tan(real x)", "the tangent of an angle in radians"),
    ("tanh", "real tanh(real x)", "the hyperbolic tangent"),
];

/// The signature of what is built in, and what it does.
pub fn signature(name: &str) -> Option<(&'static str, &'static str)> {
    ALL.iter().find(|(n, ..)| *n == name).map(|(_, signature, text)| (*signature, *text))
}

/// What stands at a byte: a call, or `pi`.
pub fn hover(view: &View, offset: u32) -> Option<(Span, String)> {
    let tokens = lex(view.text().as_str());
    // between two of them the right one is meant, if it has a name
    let last = tokens.partition_point(|t| t.start <= offset);
    let near = tokens[..last].iter().enumerate().rev().take(2).filter(|(_, t)| offset <= t.end);
    for (i, t) in near {
        let called = tokens.get(i + 1).is_some_and(|n| n.token == Token::LParen);
        let member = i.checked_sub(1).is_some_and(|before| tokens[before].token == Token::Dot);
        let found = ALL.iter().find(|(name, ..)| *name == t.token.spelling());
        if let Some((_, signature, text)) = found.filter(|_| !member && (called || t.token == Token::Pi)) {
            return Some((view.span(t.start, t.end), format!("```str\n{signature}\n```\n\n{text}\n")));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use sluice_frontend::check::call::BUILTINS;

    #[test]
    fn all_functions_are_told_of() {
        for (name, _, arguments) in BUILTINS {
            let (_, signature, _) = ALL.iter().find(|(n, ..)| n == name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(signature.matches(',').count() + 1, *arguments, "{name}");
        }
    }
}
