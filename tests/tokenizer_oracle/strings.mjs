// SPDX-License-Identifier: Apache-2.0
// Awkward strings, always the same ones. Buffers, because some are no valid UTF-8.

// A 32-bit generator (mulberry32): the same numbers on every machine.
function generator(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const words = ['Hello', 'world', 'the', 'coloured', 'square', 'Größe', 'naïve', 'ΑΒΓ', 'привет', 'x1', 'snake_case',
  'CamelCase', 'ſtraße', 'ǅ', 'نص', 'हिन्दी', 'ไทย', 'A4', 'null', 'true', 'e\u0301', 'Å', 'ﬁ', '한국어', '\u1112\u1161\u11ab'];
const contractions = ["I'm", "I'M", "you're", "YOU'RE", "we'LL", "it's", "it'ſ", "'S", "don't", "she'd", "they've", "'tis",
  "o'clock", "''s", "x'", "'re", "'r", "'l", "’s", "rock'n'roll", "'\u017f\u017f"];
const numbers = ['0', '42', '12345', '3.14', '1e-5', '½', 'Ⅷ', '٣٤', '१२', '①', '²', '1,000', '0x1F', '１２'];
const spaces = [' ', '  ', '   ', '\t', '\n', '\r', '\r\n', '\n\n', ' \n', '\n ', ' \r\n\t ', '\u0085', '\u00a0', '\u1680',
  '\u2003', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\u200b', '\u180e', '\u000b', '\u000c', '\u001c', '\ufeff'];
const marks = ['!', '?!', '...', '"', "'", '()', '{}', '[]', ':', ',', ';', '--', '=>', '::', '/*', '*/', '//', '#', '@', '$',
  '%', '^', '&', '|', '\\', '~', '`', '```', '€', '—', '…', '¿', '、', '。', '«', '\u0000', '\u007f', '\u009f', '\ufffd'];
const pictures = ['😀', '👨‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇩🇪', '☺️', '1️⃣', '漢字', '日本語テスト', 'ひらがな', '中文,測試', 'ｶﾀｶﾅ', '𠀀', '𝔘𝔫𝔦'];
const combining = ['\u0301', '\u0316', '\u0327', '\u0345', '\u0308', '\u3099', '\u093c', '\u05b0', '\u0334', '\u20d0', '\u200d',
  '\ufe0f', '\u1dfa', '\u0338'];
const special = ['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|image_pad|>', '<|vision_start|>', '<tool_call>', '</tool_call>',
  '<|im_end', '|im_end|>', '<|IM_END|>', '<| im_end |>', '<|im_end|', '<<|im_end|>>', '<|fim_prefix|>', '<|im_start|>assistant\n',
  '<|vision_start|><|image_pad|><|vision_end|>', '<|', '<tool_call', '<|file_sep|>'];
const code = ['for (int i = 0; i < 10; ++i) {\n  x += y[i];\n}\n', 'def f(self, *a):\n\treturn {**a}\n\n\n', '<div class="a">\r\n  &nbsp;</div>',
  'SELECT * FROM t WHERE a=1;--', 'git commit -m "x" && echo $?', 'https://example.com/a?b=c&d=%20#e', '\\frac{a}{b}', '#!/bin/sh\n'];
const json = ['{"Marque": {"contents": null, "confidence_score": null}}', '{\n  "a": [1, 2.5, true],\n  "b": "x\\n"\n}', '[]', '{"k":"v"}',
  '{"note": "The number is not required, type unknown", "format": "A4"}', '"\\u00e9"', '[[[{}]]]'];
// Where the two Unicode tables of the other side differ from ours.
const versions = [[0x1c89, 2], [0xa7cb, 3], [0x10d40, 40], [0x116d0, 20], [0x13460, 200], [0x16100, 60], [0x1e5d0, 43],
  [0x2ebf0, 200], [0x1df6, 5], [0x8ca, 10], [0x11930, 9], [0x105c0, 50], [0x1abf, 30]];
const broken = [[0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98], [0xf5, 0x80], [0x80], [0xe0, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80], [0xc3], [0xf0, 0x80]];

export function awkwardStrings(count, seed) {
  const random = generator(seed);
  const pick = (list) => list[random(list.length)];
  const scalar = () => {
    const limit = pick([0x80, 0x800, 0x3000, 0x10000, 0x30000, 0x110000]);
    const value = random(limit);
    return String.fromCodePoint(value >= 0xd800 && value < 0xe000 ? 0xfffd : value);
  };
  const version = () => {
    const [first, length] = pick(versions);
    return String.fromCodePoint(first + random(length));
  };
  const lists = [words, words, contractions, numbers, spaces, spaces, marks, pictures, combining, special, code, json];
  const part = (kind) => {
    if (kind < lists.length) return Buffer.from(pick(lists[kind]));
    if (kind === lists.length) return Buffer.from(scalar());
    if (kind === lists.length + 1) return Buffer.from(version());
    return Buffer.from(pick(broken));
  };
  const strings = [Buffer.alloc(0)];
  for (const list of lists) for (const text of list) strings.push(Buffer.from(text));
  while (strings.length < count) {
    // Every third string is of two sorts only, so that runs come about.
    const few = random(3) === 0 ? [random(lists.length + 3), random(lists.length + 3)] : null;
    const parts = [];
    for (let length = 1 + random(12); length > 0; --length) parts.push(part(few ? pick(few) : random(lists.length + 3)));
    strings.push(Buffer.concat(parts));
  }
  return strings;
}
