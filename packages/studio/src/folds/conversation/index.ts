/** Folds a run's rows into its conversation: what agents wrote and thought, what they called, asked and made. */
import type { CowList } from '../cow-list.ts';
import type { RunRow } from '../run-row.ts';
import { takeArtifact } from './artifacts.ts';
import { takeChild } from './children.ts';
import { ConversationDraft } from './draft.ts';
import type { ConversationItem } from './items.ts';
import { takeNotice } from './notices.ts';
import { takeQuestion } from './questions.ts';
import { takeStep } from './steps.ts';
import { takeTool } from './tools.ts';
import { takeWords } from './words.ts';

/** Each takes the rows of its family. A row may concern two: a failed node ends its step and is a notice. */
const families = [takeStep, takeWords, takeTool, takeQuestion, takeArtifact, takeChild, takeNotice];

export class Conversation {
  readonly #draft: ConversationDraft;

  constructor(origin?: Conversation) {
    this.#draft = origin === undefined ? new ConversationDraft() : new ConversationDraft(origin.#draft);
  }

  get items(): CowList<ConversationItem> {
    return this.#draft.items;
  }

  take(row: RunRow): void {
    for (const take of families) take(this.#draft, row);
  }

  fork(): Conversation {
    return new Conversation(this);
  }
}
