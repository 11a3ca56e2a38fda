//! Statements of PTX: names, modifiers, arguments.

/// Where the number of threads of a block is taken to be: bank, offset.
pub const THREADS: (u32, u64) = (0, 0);

/// Where the number of blocks is taken to be.
pub const BLOCKS: (u32, u64) = (0, 0xc);

/// A kernel, or a function that kernels call.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_kernel: bool,
    pub(super) statements: Vec<Statement>,
    /// Labels, and the statements behind them.
    pub(super) labels: Vec<(String, usize)>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    /// A condition's name, and whether it is to be 0.
    pub(super) guard: Option<(String, bool)>,
    /// `ld.param.u32`
    full: String,
    pub(super) arguments: Vec<String>,
    pub(super) line: usize,
}

impl Statement {
    fn read(text: &str, line: usize) -> Option<Statement> {
        let text = text.trim();
        let (guard, rest) = match text.strip_prefix('@') {
            Some(with) => {
                let (guard, rest) = with.split_once(char::is_whitespace)?;
                let (name, negated) = guard.strip_prefix('!').map_or((guard, false), |g| (g, true));
                (Some((name.to_string(), negated)), rest.trim_start())
            }
            None => (None, text),
        };
        // declarations
        if rest.is_empty() || rest.starts_with('.') {
            return None;
        }
        let (full, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Some(Statement { guard, full: full.to_string(), arguments: split(arguments), line })
    }

    /// `ld`
    pub(super) fn name(&self) -> &str {
        self.full.split('.').next().unwrap_or("")
    }

    pub(super) fn modifiers(&self) -> std::iter::Skip<std::str::Split<'_, char>> {
        self.full.split('.').skip(1)
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers().any(|m| m == modifier)
    }

    pub(super) fn argument(&self, at: usize) -> &str {
        self.arguments.get(at).map_or("", String::as_str)
    }

    fn ty(&self) -> Option<&str> {
        self.modifiers().filter(|m| *m == "pred" || bits_of(m).is_some()).last()
    }

    /// Bits of what it computes on; 1 of conditions.
    pub(super) fn bits(&self) -> Option<u32> {
        let ty = self.ty()?;
        if ty == "pred" { Some(1) } else { bits_of(ty) }
    }

    pub(super) fn is_signed(&self) -> bool {
        self.ty().is_some_and(|t| t.starts_with('s'))
    }

    pub(super) fn is_float(&self) -> bool {
        self.modifiers().any(|m| m.starts_with('f') && bits_of(m).is_some())
    }

    /// Of a conversion of integers: bits it makes, bits it has.
    pub(super) fn conversion(&self) -> Option<(u32, u32)> {
        let mut types = self.modifiers().filter_map(bits_of);
        Some((types.next()?, types.next()?))
    }

    /// Numbers that it moves at once.
    pub(super) fn lanes(&self) -> u32 {
        self.modifiers().find_map(|m| m.strip_prefix('v')).and_then(|n| n.parse().ok()).unwrap_or(1)
    }

    /// Registers that it writes.
    pub(super) fn written(&self) -> Vec<String> {
        let all = self.argument(0).trim_matches(['{', '}']).split([',', '|']);
        all.map(|n| n.trim().to_string()).filter(|n| n.starts_with('%')).collect()
    }
}

fn bits_of(ty: &str) -> Option<u32> {
    let kind = ty.chars().next()?;
    if !matches!(kind, 's' | 'u' | 'b' | 'f') {
        return None;
    }
    ty[1..].parse().ok().filter(|n| matches!(n, 8 | 16 | 32 | 64 | 128))
}

/// Commas that are not in brackets.
fn split(text: &str) -> Vec<String> {
    let (mut all, mut depth, mut current) = (Vec::new(), 0u32, String::new());
    for c in text.chars() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    all.push(current);
    all.into_iter().map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect()
}

/// `-858993459`, `0x10`: of 64 bits, whatever it is used for.
pub(super) fn literal(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    text.parse::<i64>().ok().map(|v| v as u64)
}

/// `[%rd1+-32]`: what it is an address of, and how far from there.
pub(super) fn address(text: &str) -> Option<(String, u64)> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    let (of, offset) = inside.split_once('+').unwrap_or((inside, "0"));
    let offset: i64 = offset.parse().ok()?;
    Some((of.to_string(), offset as u64))
}

/// The functions of a text. What is declared only is none.
pub(super) fn functions(text: &str) -> Vec<Function> {
    let mut all: Vec<Function> = Vec::new();
    let (mut depth, mut line, mut began) = (0u32, 1, 1);
    let mut statement = String::new();
    let mut lines = text.lines().map(|l| l.split("//").next().unwrap_or(""));
    // brackets of arguments and of numbers are no blocks
    let (mut inside, mut values) = (0u32, false);
    for own in lines.by_ref() {
        for c in own.chars().chain(['\n']) {
            match c {
                '(' | '[' => inside += 1,
                ')' | ']' => inside = inside.saturating_sub(1),
                _ => {}
            }
            match c {
                '{' if depth == 0 && statement.contains('=') => values = true,
                '}' if values => values = false,
                '{' if depth == 0 => {
                    all.extend(header(&statement));
                    statement.clear();
                    depth = 1;
                    continue;
                }
                // `{%f1, %f2}` behind a name, or a block of its own
                '{' if depth > 0 && statement.trim().is_empty() => {
                    depth += 1;
                    continue;
                }
                '}' if depth > 0 && statement.trim().is_empty() => {
                    depth -= 1;
                    continue;
                }
                ';' if inside == 0 && !values => {
                    if depth > 0
                        && let (Some(function), Some(read)) = (all.last_mut(), Statement::read(&statement, began))
                    {
                        function.statements.push(read);
                    }
                    statement.clear();
                    continue;
                }
                ':' if depth > 0 && inside == 0 && !statement.contains(char::is_whitespace) => {
                    if let Some(function) = all.last_mut() {
                        function.labels.push((statement.trim().to_string(), function.statements.len()));
                    }
                    statement.clear();
                    continue;
                }
                _ => {}
            }
            if statement.is_empty() {
                began = line;
            }
            if !(statement.is_empty() && c.is_whitespace()) {
                statement.push(c);
            }
        }
        line += 1;
    }
    all
}

/// `.visible .entry k(`, `.func (.param .b32 r) f(`: a function without its statements.
fn header(text: &str) -> Option<Function> {
    let is_kernel = text.contains(".entry");
    let rest = text.split_once(if is_kernel { ".entry" } else { ".func" })?.1.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(returns) => returns.split_once(')')?.1,
        None => rest,
    };
    let name = rest.split(['(', '{']).next()?.trim();
    Some(Function { name: name.to_string(), is_kernel, ..Function::default() })
}
