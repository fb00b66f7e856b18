/** A text that must not be shown: whoever prints, logs or serialises it gets a placeholder. */
import { inspect } from 'node:util';

const PLACEHOLDER = '[secret]';

export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Call it where it leaves for the one place it was configured for, and nowhere else. */
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
