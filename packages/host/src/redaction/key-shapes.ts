/** Masks texts that look like keys of well-known vendors, private keys and signed tokens. It knows no secret. */
import { MARKER } from './markers.ts';
import { SecretRedactor } from './redactor.ts';

/** The start of a text, a character that is no part of a key, or an escape of JSON. */
const START = String.raw`(?<=^|[^\w-]|\\[nrtbf])`;

/** Each form is matched from one start only and consumes what it reads, so the search is linear. */
const KEY_SHAPES = new RegExp(
  [
    `${START}(?:${[
      'sk-[A-Za-z0-9_-]{16,}',
      'AIza[A-Za-z0-9_-]{20,}',
      'gh[pousr]_[A-Za-z0-9]{20,}',
      'xox[a-z]-[A-Za-z0-9-]{10,}',
      'AKIA[A-Z0-9]{12,}',
      String.raw`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`,
    ].join('|')})`,
    String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,-]*`,
  ].join('|'),
  'g',
);

/** Works on plain text and on JSON text, which stays valid. Returns the same text if it holds no such key. */
export function maskKeyShapes(text: string): string {
  return text.replace(KEY_SHAPES, (found) => {
    // An escape that the match cut in two would make the JSON invalid.
    const cut = /(?:^|[^\\])(?:\\\\)*(\\)$/.exec(found) === null ? '' : '\\';
    return MARKER + cut;
  });
}

/** Masks them in every text of a value, including keys. */
export class KeyShapeMask extends SecretRedactor {
  constructor() {
    super([]);
  }

  override text(text: string): string {
    return maskKeyShapes(text);
  }
}
