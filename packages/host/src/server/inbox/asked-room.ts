/** Bounds the full questions of one page or inbox. A question that does not fit is shown without its data. */
import { type InboxEntry, jsonSize } from '@cairn/protocol';

/** About the bytes of data and schemas: 200 questions of 16 kB would be one response of 3 MB. */
const MAX_BYTES = 1_048_576;

export class AskedRoom {
  #left = MAX_BYTES;

  /** Takes the room of an entry, and returns what of the entry fits. */
  fitted(entry: InboxEntry): InboxEntry {
    const bytes = askedBytes(entry);
    if (bytes > this.#left) {
      const { data: _data, resumeSchema: _schema, ...rest } = entry;
      return { ...rest, isCut: true };
    }
    this.#left -= bytes;
    return entry;
  }

  /** Gives the room of a fitted entry back. */
  free(entry: InboxEntry): void {
    this.#left += askedBytes(entry);
  }
}

function askedBytes({ data, resumeSchema }: InboxEntry): number {
  return (data === undefined ? 0 : jsonSize(data)) + (resumeSchema === undefined ? 0 : jsonSize(resumeSchema));
}
