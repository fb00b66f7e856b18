/** How a reader sees rows: which of them, under which names, and as what text. Decided by a row's type, never by its body. */

export interface Lens {
  /** Readers whose lenses have the same key are shown the same, and share one text. */
  readonly key: string;
  /** The name under which rows of a type are shown; null hides them. */
  nameOf(type: string): string | null;
  /** Frames one after the other; or bare documents with commas between, for who puts many of them into one frame. */
  readonly form: 'frames' | 'documents';
}

/** Every row, as it is called, in a frame of its own. */
export const everything: Lens = { key: 'everything', nameOf: (type) => type, form: 'frames' };
