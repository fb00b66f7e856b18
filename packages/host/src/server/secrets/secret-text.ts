/** A text that must not be shown. Printing, logging or serialising it yields a placeholder. */
import { inspect } from 'node:util';

const PLACEHOLDER = '[secret]';

export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The plain text. Call it only where the text is sent to its configured destination. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }

  [inspect.custom](): string {
    return PLACEHOLDER;
  }
}
