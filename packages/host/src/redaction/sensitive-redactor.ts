/**
 * Redacts the sensitive values of a run besides the host's secrets. A value that is there as it is becomes its reference;
 * other encodings, and parts of a value, become a mask.
 */
import { type KnownSecret, MARKER, unredactable } from './markers.ts';
import { SecretRedactor, type TextStream } from './redactor.ts';

/** A sensitive value, and the reference that stands for it. */
export interface ReferencedValue {
  readonly reference: string;
  readonly value: unknown;
}

type HostRedactor = Pick<SecretRedactor, 'text' | 'stream'>;

/** A shorter text is too common to be told from other text. */
const MIN_WHOLE_LENGTH = 4;

/** A text or a number of a value, and what takes its place. */
interface Part {
  readonly text: string;
  readonly place: string;
}

export class SensitiveRedactor extends SecretRedactor {
  readonly #host: HostRedactor | null;
  readonly #references: readonly string[];
  /** Texts that are replaced wherever they are. */
  readonly #inside: readonly Part[];
  /** Texts and numbers that are replaced where they are the whole value. */
  readonly #whole: ReadonlyMap<string, string>;

  constructor(values: readonly ReferencedValue[], references: readonly string[], host: HostRedactor | null) {
    const parts = values.flatMap(({ reference, value }) => partsOf(value, reference));
    const secrets = parts.map(({ text }): KnownSecret => ({ name: 'sensitive', value: text }));
    super(secrets.filter((secret) => unredactable([secret]) === null));
    this.#host = host;
    this.#references = references;
    const long = parts.filter(({ text }) => unredactable([{ name: '', value: text }]) === null);
    // The longest first: one value may contain another.
    this.#inside = long.sort((a, b) => b.text.length - a.text.length);
    this.#whole = new Map(
      parts.filter(({ text }) => text.length >= MIN_WHOLE_LENGTH).map(({ text, place }) => [text, place]),
    );
  }

  override text(text: string): string {
    let clean = this.#host === null ? text : this.#host.text(text);
    // First: a reference that came from outside must not be opened later.
    for (const reference of this.#references) {
      if (clean.includes(reference)) clean = clean.replaceAll(reference, MARKER);
    }
    const whole = this.#whole.get(clean);
    if (whole !== undefined) return whole;
    for (const { text: part, place } of this.#inside) {
      // A function: `$` in a replacement text would be special.
      if (clean.includes(part)) clean = clean.replaceAll(part, () => place);
    }
    return super.text(clean);
  }

  /** A text in pieces gets masks: a piece may end within a value. */
  override stream(): TextStream {
    const own = super.stream();
    const host = this.#host?.stream();
    if (host === undefined) return own;
    return { push: (piece) => own.push(host.push(piece)), end: () => own.push(host.end()) + own.end() };
  }

  protected override other(value: unknown): unknown {
    return typeof value === 'number' ? (this.#whole.get(String(value)) ?? value) : value;
  }
}

/** A text or a number is its reference again. The parts of a list or an object become masks. */
function partsOf(value: unknown, place: string): readonly Part[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ text: String(value).trim(), place }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item) => partsOf(item, MARKER));
}
