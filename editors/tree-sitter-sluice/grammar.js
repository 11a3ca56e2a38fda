/**
 * The syntax of `.str` programs for editors: highlighting, folding, indentation, outlines.
 *
 * The compiler's own grammar is grammar/src/stream.lalrpop. This one accepts what that accepts, names its parts for queries, and knows
 * nothing of meaning. Tests hold the two together: every program of the repository parses here, and its tokens are the compiler's.
 *
 * src/ is made from this file: `SLUICE_BLESS=1 cargo nextest run -p sluice-tests --test editors`.
 */

// Tightest last. Shifts bind like multiplication, and `& | ^` share a level looser than `==`: the language's, not C's.
const PREC = { assign: 1, ternary: 2, or: 3, and: 4, bits: 5, equal: 6, compare: 7, sum: 8, product: 9, unary: 10, postfix: 11, method: 12 };

const BINARY = [
  ['||', PREC.or],
  ['&&', PREC.and],
  ['&', PREC.bits], ['|', PREC.bits], ['^', PREC.bits],
  ['==', PREC.equal], ['!=', PREC.equal],
  ['<', PREC.compare], ['<=', PREC.compare], ['>', PREC.compare], ['>=', PREC.compare],
  ['+', PREC.sum], ['-', PREC.sum],
  ['*', PREC.product], ['/', PREC.product], ['%', PREC.product], ['<<', PREC.product], ['>>', PREC.product],
];

const ASSIGN = ['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='];

const comma1 = (rule) => seq(rule, repeat(seq(',', rule)));
const comma = (rule) => optional(comma1(rule));

module.exports = grammar({
  name: 'sluice',

  word: ($) => $.identifier,

  // Old DOS editors end a file with Ctrl-Z.
  extras: ($) => [/[ \t\r\n\x0b\x0c\x1a]/, $.comment],

  supertypes: ($) => [$.expression, $.statement],

  // `Name[3] x` declares, `name[3] = x` assigns: known only behind the brackets.
  conflicts: ($) => [[$.type, $.expression]],

  rules: {
    source_file: ($) => repeat($._item),

    _item: ($) =>
      choice(
        $.import_declaration,
        $.struct_declaration,
        $.filter_declaration,
        $.composite_declaration,
        $.static_block,
        $.native_declaration,
        $.helper_declaration,
        ';',
      ),

    import_declaration: ($) => seq('import', field('path', $.string), ';'),

    struct_declaration: ($) => seq('struct', field('name', $.identifier), field('body', $.struct_body)),
    struct_body: ($) => seq('{', repeat(choice($.field_declaration, ';')), '}'),

    static_block: ($) => seq('static', field('body', $.static_body)),
    static_body: ($) => seq('{', repeat(choice($.field_declaration, $.init, ';')), '}'),

    native_declaration: ($) => seq('native', field('name', $.identifier), field('body', $.native_body)),
    native_body: ($) => seq('{', repeat(choice($.native_function, ';')), '}'),
    native_function: ($) =>
      seq(
        field('type', $.type),
        field('name', $.identifier),
        field('parameters', $.parameters),
        choice(';', field('body', $.block)),
      ),

    helper_declaration: ($) => seq('helper', field('name', $.identifier), field('body', $.helper_body)),
    helper_body: ($) => seq('{', repeat(choice($.function, ';')), '}'),

    // ---- Streams

    filter_declaration: ($) => seq($._filter_head, field('body', $.filter_body)),
    composite_declaration: ($) => seq($._composite_head, field('body', $.block)),
    _filter_head: ($) => seq(optional($._ends), field('kind', 'filter'), optional($._named)),
    _composite_head: ($) =>
      seq(optional($._ends), field('kind', choice('pipeline', 'splitjoin', 'feedbackloop')), optional($._named)),
    _ends: ($) => choice(seq($.stream_type, optional('stateful')), 'stateful'),
    _named: ($) =>
      choice(
        seq(field('name', $.identifier), optional(field('parameters', $.parameters))),
        field('parameters', $.parameters),
      ),
    stream_type: ($) => seq(field('input', $.type), '->', field('output', $.type)),

    filter_body: ($) =>
      seq('{', repeat(choice($.field_declaration, $.function, $.init, $.work, $.handler, ';')), '}'),
    field_declaration: ($) => seq(field('type', $.type), comma1(field('declarator', $.declarator)), ';'),
    init: ($) => seq('init', field('body', $.block)),
    work: ($) => seq(field('kind', choice('work', 'prework')), optional($.rates), field('body', $.block)),
    handler: ($) =>
      seq('handler', field('name', $.identifier), field('parameters', $.parameters), field('body', $.block)),
    function: ($) =>
      seq(
        field('type', $.type),
        field('name', $.identifier),
        field('parameters', $.parameters),
        optional($.rates),
        field('body', $.block),
      ),

    parameters: ($) => seq('(', comma($.parameter), ')'),
    parameter: ($) => seq(field('type', $.type), field('name', $.identifier), repeat($.dimension)),

    rates: ($) => repeat1(seq($.rate, optional(','))),
    rate: ($) =>
      seq(field('kind', choice('push', 'pop', 'peek')), field('value', choice($.expression, $.any, $.rate_range))),
    rate_range: ($) => seq('[', $._bound, ',', $._bound, optional(seq(',', $._bound)), ']'),
    _bound: ($) => choice($.expression, $.any),
    any: () => '*',

    // ---- Types

    type: ($) => seq(choice($.primitive_type, $.portal_type, $.identifier), repeat($.dimension)),
    primitive_type: ($) => choice($._scalar, $._vector),
    _scalar: () => choice('void', 'bit', 'boolean', 'int', 'float', 'double'),
    _vector: () => choice('complex', 'float2', 'float3', 'float4'),
    portal_type: ($) => seq('portal', '<', field('stream', $.identifier), '>'),
    dimension: ($) => seq('[', $.expression, ']'),

    // ---- Statements

    block: ($) => seq('{', repeat($.statement), '}'),

    statement: ($) =>
      choice(
        $.if_statement,
        $.while_statement,
        $.for_statement,
        $.do_statement,
        $.switch_statement,
        $.block,
        $.empty_statement,
        $.declaration,
        $.expression_statement,
        $.push_statement,
        $.break_statement,
        $.continue_statement,
        $.return_statement,
        $.send_statement,
        $.add_statement,
        $.split_statement,
        $.join_statement,
        $.enqueue_statement,
      ),

    if_statement: ($) =>
      prec.right(
        seq(
          'if',
          field('condition', $.condition),
          field('consequence', $.statement),
          optional(seq('else', field('alternative', $.statement))),
        ),
      ),
    while_statement: ($) => seq('while', field('condition', $.condition), field('body', $.statement)),
    do_statement: ($) => seq('do', field('body', $.statement), 'while', field('condition', $.condition), ';'),
    for_statement: ($) =>
      seq(
        'for',
        '(',
        field('initializer', optional(choice(alias($._declaration, $.declaration), $._actions))),
        ';',
        field('condition', optional(choice($.expression, $.assignment))),
        ';',
        field('update', optional($._actions)),
        ')',
        field('body', $.statement),
      ),
    _actions: ($) => comma1($._action),
    _action: ($) => choice($.expression, $.assignment, alias($._push, $.push_statement)),
    switch_statement: ($) => seq('switch', field('value', $.condition), '{', repeat($.case), '}'),
    case: ($) => prec.right(seq(repeat1($.case_label), repeat($.statement))),
    case_label: ($) => choice(seq('case', field('value', $.expression), ':'), seq('default', ':')),
    condition: ($) => seq('(', choice($.expression, $.assignment), ')'),

    empty_statement: () => ';',
    declaration: ($) => seq($._declaration, ';'),
    _declaration: ($) => seq(field('type', $.type), comma1(field('declarator', $.declarator))),
    declarator: ($) =>
      seq(
        field('name', $.identifier),
        repeat($.dimension),
        optional(seq('=', field('value', choice($._value, $.assignment)))),
      ),
    expression_statement: ($) => seq(choice($.expression, $.assignment), ';'),
    push_statement: ($) => seq($._push, ';'),
    _push: ($) => seq('push', '(', field('value', $._value), ')'),
    break_statement: () => seq('break', ';'),
    continue_statement: () => seq('continue', ';'),
    return_statement: ($) => seq('return', optional(field('value', $._value)), ';'),
    send_statement: ($) => seq(field('message', $.expression), field('latency', $.latency), ';'),
    latency: ($) =>
      choice(seq('[', field('min', $.expression), ':', field('max', $.expression), ']'), seq('[', $.any, ']')),

    // `add`, and in a feedback loop `body` and `loop`. The semicolon behind the braces of an anonymous stream may be left out.
    add_statement: ($) =>
      seq(
        field('kind', choice('add', 'body', 'loop')),
        choice(
          seq(field('stream', $.stream), optional($.portals), ';'),
          prec.right(
            seq(
              field('stream', choice($.anonymous_filter, $.anonymous_composite)),
              optional(choice(seq($.portals, ';'), ';')),
            ),
          ),
        ),
      ),
    stream: ($) =>
      seq(
        field('name', $.identifier),
        optional(field('types', $.type_arguments)),
        optional(field('arguments', $.arguments)),
      ),
    type_arguments: ($) => seq('<', comma1($.type), '>'),
    anonymous_filter: ($) => seq($._filter_head, field('body', $.filter_body)),
    anonymous_composite: ($) => seq($._composite_head, field('body', $.block)),
    portals: ($) => seq('to', comma1($.expression)),
    split_statement: ($) => seq('split', $._splitting, ';'),
    join_statement: ($) => seq('join', $._splitting, ';'),
    _splitting: ($) => choice(seq('duplicate', optional(seq('(', ')'))), seq('roundrobin', optional($.arguments))),
    enqueue_statement: ($) => seq('enqueue', field('value', $._value), ';'),

    // ---- Expressions

    // Where an array may stand, too.
    _value: ($) => choice($.expression, $.array),
    array: ($) => seq('{', optional(seq(comma1($._value), optional(','))), '}'),

    assignment: ($) =>
      prec.right(
        PREC.assign,
        seq(
          field('left', $.expression),
          field('operator', choice(...ASSIGN)),
          field('right', choice($._value, $.assignment)),
        ),
      ),

    expression: ($) =>
      choice(
        $.ternary_expression,
        $.binary_expression,
        $.unary_expression,
        $.update_expression,
        $.cast_expression,
        $.member_expression,
        $.index_expression,
        $.call_expression,
        $.pop_expression,
        $.peek_expression,
        $.iter_expression,
        $.parenthesized_expression,
        $.identifier,
        $.integer,
        $.real,
        $.imaginary,
        $.character,
        $.string,
        $.true,
        $.false,
        $.pi,
      ),

    ternary_expression: ($) =>
      prec.right(
        PREC.ternary,
        seq(
          field('condition', $.expression),
          '?',
          field('consequence', $.expression),
          ':',
          field('alternative', $.expression),
        ),
      ),
    binary_expression: ($) =>
      choice(
        ...BINARY.map(([operator, level]) =>
          prec.left(
            level,
            seq(field('left', $.expression), field('operator', operator), field('right', $.expression)),
          ),
        ),
      ),
    unary_expression: ($) =>
      prec(PREC.unary, seq(field('operator', choice('-', '+', '!', '~')), field('operand', $.expression))),
    update_expression: ($) =>
      choice(
        prec(PREC.unary, seq(field('operator', choice('++', '--')), field('operand', $.expression))),
        prec(PREC.postfix, seq(field('operand', $.expression), field('operator', choice('++', '--')))),
      ),
    cast_expression: ($) =>
      prec(PREC.unary, seq('(', field('type', alias($._cast_type, $.type)), ')', field('value', $.expression))),
    _cast_type: ($) => seq(choice($.primitive_type, $.portal_type), repeat($.dimension)),
    member_expression: ($) =>
      prec(PREC.postfix, seq(field('object', $.expression), '.', field('member', $.identifier))),
    index_expression: ($) =>
      prec(PREC.postfix, seq(field('array', $.expression), '[', field('index', $.expression), ']')),
    call_expression: ($) =>
      prec(
        PREC.postfix,
        seq(field('function', choice($.expression, $.primitive_type, $.method)), field('arguments', $.arguments)),
      ),
    // A native or shared function by the name of its group, or a handler by a portal.
    method: ($) => prec(PREC.method, seq(field('object', $.expression), '.', field('name', $.identifier))),
    arguments: ($) => seq('(', comma($._value), ')'),
    pop_expression: () => seq('pop', '(', ')'),
    peek_expression: ($) => seq('peek', '(', field('index', $.expression), ')'),
    iter_expression: () => seq('iter', '(', ')'),
    parenthesized_expression: ($) => seq('(', choice($.expression, $.assignment), ')'),

    // ---- Tokens

    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    integer: () => /[0-9]+|0[xX][0-9A-Fa-f]+/,
    real: () => /[0-9]+[fF]|([0-9]*\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fF]?/,
    imaginary: () => /([0-9]+|[0-9]*\.[0-9]+)([eE][+-]?[0-9]+)?i/,
    true: () => 'true',
    false: () => 'false',
    pi: () => 'pi',

    string: ($) =>
      seq(
        '"',
        repeat(choice(alias(token.immediate(prec(1, /[^"\\\n]+/)), $.string_content), $.escape_sequence)),
        token.immediate('"'),
      ),
    character: ($) =>
      seq(
        "'",
        repeat(choice(alias(token.immediate(prec(1, /[^'\\\n]+/)), $.string_content), $.escape_sequence)),
        token.immediate("'"),
      ),
    escape_sequence: () => token.immediate(prec(1, /\\([0-7]{1,3}|x[0-9A-Fa-f]*|\r?\n|[^\n])/)),

    comment: () => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
  },
});
