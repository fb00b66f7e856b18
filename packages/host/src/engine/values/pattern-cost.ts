/** Estimates what a pattern costs to compile, from its text: a few characters can stand for millions of instructions. */

const MAX_PATTERN_LENGTH = 1_000;

/** The maximum number of instructions: `[a-z]{0,1000}` has 2,000. Time and memory of a match grow with it. */
const MAX_INSTRUCTIONS = 4_000;

/** The maximum cost of compiling a pattern in units of `cost-budget.ts`: about 5 ms. */
const MAX_COMPILE_COST = 250_000;

/** Units, all measured: to parse a character, compile an instruction, merge a Unicode class, fold a character. */
const CHARACTER = 120;
const INSTRUCTION = 20;
const UNICODE_CLASS = 4_000;
const FOLDED_UNICODE_CLASS = 15_000;
/** An instruction that matches a Unicode class has hundreds of ranges. */
const UNICODE_INSTRUCTION = 1_500;
const FOLDED_CHARACTER = 2;

/** Returns an upper bound of the cost to compile the pattern. Throws a RangeError if that is too much. */
export function patternCost(source: string, isFolded: boolean): number {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`the pattern has ${source.length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`);
  }
  const { instructions, unicode, classCost } = measure(source, isFolded || /\(\?\w*i/.test(source));
  if (instructions > MAX_INSTRUCTIONS) {
    throw new RangeError(
      `the pattern stands for up to ${instructions} instructions; at most ${MAX_INSTRUCTIONS} are allowed, so repeat less`,
    );
  }
  const cost =
    1_000 + CHARACTER * source.length + INSTRUCTION * instructions + UNICODE_INSTRUCTION * unicode + classCost;
  if (cost <= MAX_COMPILE_COST) return cost;
  throw new RangeError(
    `the pattern costs ${cost} units to compile; at most ${MAX_COMPILE_COST} are allowed, so use fewer or smaller character classes`,
  );
}

interface Size {
  readonly instructions: number;
  /** The instructions that match a Unicode class. */
  readonly unicode: number;
}

const nothing: Size = { instructions: 0, unicode: 0 };
const one: Size = { instructions: 1, unicode: 0 };
const sum = (a: Size, b: Size): Size => ({
  instructions: a.instructions + b.instructions,
  unicode: a.unicode + b.unicode,
});
const repeated = (times: number, { instructions, unicode }: Size): Size => ({
  instructions: times * (instructions + 1) + 2,
  unicode: times * unicode,
});

/** A quoted text, a Unicode class, an escape, a repetition, or one character. */
const token = /\\Q(?:(?!\\E).)*(?:\\E)?|\\[pP](?:\{[^}]*\}|.)?|\\x\{[^}]*\}|\\.|\{(\d+)(,?)(\d*)\}|./gsuy;

/** Counts any text somehow, also when RE2 will refuse it. */
function measure(source: string, isFolded: boolean): Size & { readonly classCost: number } {
  /** The size of each open group without its last part, outermost first. */
  const groups: Size[] = [one];
  let last = nothing;
  let classCost = 0;
  const add = (part: Size) => {
    groups.push(sum(groups.pop() ?? nothing, last));
    last = part;
  };
  for (let at = 0; at < source.length; ) {
    token.lastIndex = at;
    const [text = '', least, comma, most] = token.exec(source) ?? [source.charAt(at)];
    at += text.length;
    if (least !== undefined) {
      last = repeated(Math.max(1, Number(least), comma === '' ? 0 : Number(most)), last);
    } else if (text === '*' || text === '+' || text === '?') {
      last = repeated(1, last);
    } else if (text === '(') {
      add(nothing);
      groups.push({ instructions: 2, unicode: 0 });
    } else if (text === ')' && groups.length > 1) {
      add(nothing);
      last = groups.pop() ?? nothing;
    } else if (text === '[') {
      const found = characterClass(source, at, isFolded);
      at = found.end;
      classCost += found.cost;
      add({ instructions: 1, unicode: found.cost >= UNICODE_CLASS ? 1 : 0 });
    } else if (/^\\[pP]/.test(text)) {
      classCost += isFolded ? FOLDED_UNICODE_CLASS : UNICODE_CLASS;
      add({ instructions: 1, unicode: 1 });
    } else if (text.startsWith('\\Q')) {
      add({ instructions: text.length, unicode: 0 });
      add(one);
    } else add(text === '|' ? { instructions: 2, unicode: 0 } : one);
  }
  add(nothing);
  return { ...groups.reduce(sum), classCost };
}

/** A Unicode class, a named class, an escape, or one character; each but the first two may begin or end a range. */
const member = /\\[pP](?:\{[^}]*\}|.)?|\[:\^?\w+:\]|\\x\{([0-9a-fA-F]+)\}|\\x([0-9a-fA-F]{2})|\\.|./gsuy;

/** `start` follows the opening bracket; `end` follows the closing one. */
function characterClass(source: string, start: number, isFolded: boolean): { end: number; cost: number } {
  let cost = 0;
  let at = source.startsWith('^', start) ? start + 1 : start;
  let from: number | undefined;
  let isRange = false;
  for (let isFirst = true; at < source.length; isFirst = false) {
    member.lastIndex = at;
    const [text = '', long, short] = member.exec(source) ?? [source.charAt(at)];
    at += text.length;
    if (text === ']' && !isFirst) break;
    if (/^\\[pP]/.test(text)) {
      cost += isFolded ? FOLDED_UNICODE_CLASS : UNICODE_CLASS;
      continue;
    }
    if (text === '-' && from !== undefined && !isRange) {
      isRange = true;
      continue;
    }
    const hex = long ?? short;
    const code =
      hex === undefined
        ? (text.codePointAt(text.length > 1 && text.startsWith('\\') ? 1 : 0) ?? 0)
        : Number.parseInt(hex, 16);
    if (isRange && isFolded) cost += FOLDED_CHARACTER * Math.max(0, Math.min(code, MAX_FOLDED) - (from ?? 0));
    from = isRange ? undefined : code;
    isRange = false;
  }
  return { end: at, cost };
}

/** No character above it has an upper or lower case. */
const MAX_FOLDED = 0x1e943;
