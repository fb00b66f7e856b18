/**
 * Answers of people that do not fit in an event. The rows of an artifact before the answer hold its large parts, and the
 * answer refers to them. All of it is one fact: the artifact is there if and only if the answer is.
 */
import { isJsonObject, type Json, type JsonObject, jsonSize, row, TerminalError } from '@cairn/protocol';
import { MAX_EVENT_BODY_BYTES } from '../../../log/ports/rows.ts';
import { utf8Size } from '../../../utf8.ts';
import type { Sha256 } from '../../ports.ts';
import { MAX_VALUE_BYTES, referenceTo } from '../../values/large-values.ts';
import type { Draft } from '../state.ts';

/** What may stay of a large answer. The rows that follow from it repeat it, with other fields. */
const FITS_BYTES = 240_000;

/** Bytes of a character in JSON, at most; counted numbers may take three times their price. */
const MAX_ESCAPE = 6;

/** Characters of one row. Its task face repeats them. */
const PIECE_CHARACTERS = 65_536;

export interface AnsweredQuestion {
  readonly nodeId: string;
  readonly interruptId: string;
  /** Of the question. */
  readonly seq: number;
  /** The sequence of the first row of the answer. */
  readonly nextSeq: number;
}

/** Most answers are so small that not even escapes make them large. */
export const isLargeAnswer = (value: Json): boolean =>
  jsonSize(value) * MAX_ESCAPE > MAX_EVENT_BODY_BYTES && bytesOf(value) > MAX_EVENT_BODY_BYTES;

const bytesOf = (value: Json): number => utf8Size(JSON.stringify(value));

/** The rows of an answer, and before them those of the artifacts that hold its large parts. */
export function withoutLargeParts(
  drafts: readonly Draft[],
  question: AnsweredQuestion,
  sha256: Sha256,
): readonly Draft[] {
  const parts = new LargeParts(question, sha256);
  const answers = drafts.map((draft) => {
    const { resumeValue } = draft.payload as { readonly resumeValue?: Json };
    if (resumeValue !== undefined) parts.shrink(resumeValue, FITS_BYTES);
    return { ...draft, payload: parts.replaced(draft.payload) } as Draft;
  });
  return [...parts.rows, ...answers];
}

class LargeParts {
  readonly rows: Draft[] = [];
  readonly #question: AnsweredQuestion;
  readonly #sha256: Sha256;
  /** References by the values that they stand for: all rows of an answer have the same values. */
  readonly #references = new Map<Json, JsonObject>();

  constructor(question: AnsweredQuestion, sha256: Sha256) {
    this.#question = question;
    this.#sha256 = sha256;
  }

  /** Keeps the largest members, else the whole value, until the rest fits. Returns the bytes of the rest. */
  shrink(value: Json, fits: number): number {
    const known = this.#references.get(value);
    if (known !== undefined) return bytesOf(known);
    const size = bytesOf(value);
    if (size <= fits) return size;
    if (!isJsonObject(value)) return this.#keep(value);
    const members = Object.values(value)
      .map((member) => ({ member, bytes: bytesOf(member) }))
      .sort((a, b) => b.bytes - a.bytes);
    let rest = size;
    for (const { member, bytes } of members) {
      if (rest <= fits) return rest;
      // A reference takes more than a small member.
      if (bytes < FITS_BYTES / 16) break;
      rest += this.shrink(member, Math.max(0, fits - (rest - bytes))) - bytes;
    }
    return rest <= fits ? rest : this.#keep(value);
  }

  /** The value with a reference in the place of each kept part. */
  replaced<Value extends Json>(value: Value): Json {
    const reference = this.#references.get(value);
    if (reference !== undefined) return reference;
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.replaced(member)]));
  }

  #keep(value: Json): number {
    const { interruptId, nodeId, seq: cause, nextSeq } = this.#question;
    const text = JSON.stringify(value);
    const place = this.#references.size === 0 ? '' : `.${this.#references.size}`;
    const name = `values/${interruptId.replaceAll(/[^\w.-]/g, '-')}-${nextSeq}${place}.json`;
    const bytes = utf8Size(text);
    if (bytes > MAX_VALUE_BYTES) throw tooLarge(bytes);
    const sha256 = this.#sha256(text, 'hex');
    const about = { artifactId: name, nodeId, agentId: 'core.system' };
    const pieces = piecesOf(text);
    for (const [index, data] of pieces.entries()) {
      const complete = index === pieces.length - 1;
      const first =
        index === 0 ? { name, mimeType: 'application/json', encoding: 'utf-8' as const, totalSize: bytes } : {};
      const payload = { ...about, version: 1, index, complete, ...first, data, bytes: utf8Size(data) };
      this.rows.push(row('cairn.artifact.chunk', { ...payload, ...(complete && { sha256 }) }, { nodeId, cause }));
    }
    const created = { ...about, version: '1', artifactType: 'application/json', sha256, bytes };
    this.rows.push(row('artifact.created', created, { nodeId, cause }));
    const reference = referenceTo(text, { artifactId: name, version: 1, bytes, sha256 });
    this.#references.set(value, reference);
    return bytesOf(reference);
  }
}

const tooLarge = (bytes: number): TerminalError =>
  new TerminalError('event_too_large', {
    message: `The answer has ${bytes} bytes as JSON; the limit is ${MAX_VALUE_BYTES}.`,
    hint: 'Write it as an artifact, and answer with its name.',
    details: { bytes, limit: MAX_VALUE_BYTES },
  });

/** Never inside a surrogate pair. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let end = Math.min(from + PIECE_CHARACTERS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}
