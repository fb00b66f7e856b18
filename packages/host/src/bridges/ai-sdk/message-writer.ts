/** Writes the parts of one message: steps, streamed text that may have to be taken back, and everything between. */
import { GrowingText } from '../../growing-text.ts';
import type { UiChunk } from './chunks.ts';

const isReasoning = ({ type }: UiChunk): boolean => type.startsWith('reasoning-');

/**
 * The protocol can take back only a whole step. So a text begins a step of its own, unless only reasoning came before it
 * there, and what comes into the step while the text is open is kept and written again.
 */
export class MessageWriter {
  #out: UiChunk[] = [];
  #isStepOpen = false;
  /** The parts of the step beside its open texts; null when a text cannot join the step any more. */
  #kept: UiChunk[] | null = [];
  /** What was written so far of each open text. */
  readonly #texts = new Map<string, GrowingText>();
  /** Calls without a result. A step does not end before those that it shows. */
  readonly #calls = new Set<string>();
  #hasCalls = false;
  #hasText = false;

  /** What was written since the last call. */
  take(): readonly UiChunk[] {
    const written = this.#out;
    this.#out = [];
    return written;
  }

  /** Whether the message has any finished text. */
  get hasText(): boolean {
    return this.#hasText;
  }

  /** Something outside of every step. */
  say(...chunks: readonly UiChunk[]): void {
    this.#out.push(...chunks);
  }

  /** A part beside the work of the model, such as data. */
  add(...chunks: readonly UiChunk[]): void {
    this.#open();
    this.#put(chunks);
  }

  /** A part of the model's work: after the results of a step it begins the next one. */
  work(...chunks: readonly UiChunk[]): void {
    if (this.#isSettled) this.#next();
    this.add(...chunks);
  }

  opened(callId: string): void {
    this.#calls.add(callId);
    this.#hasCalls = true;
  }

  closed(callId: string): void {
    this.#calls.delete(callId);
  }

  /** More of a text. */
  text(id: string, delta: string): void {
    let text = this.#texts.get(id);
    if (text === undefined) {
      this.#begin(id);
      text = new GrowingText();
      this.#texts.set(id, text);
    }
    text.add(delta);
    this.#out.push({ type: 'text-delta', id, delta });
  }

  /** The whole text. It counts, whatever was written of it before, unless it is cut and what was written begins with it. */
  completeText(id: string, given: string, isCut = false): void {
    const before = this.#texts.get(id)?.toString();
    // The cut may have split its last character.
    const content = isCut && before?.startsWith(given.slice(0, -1)) ? before : given;
    if (before !== undefined && !content.startsWith(before)) this.dropTexts([id]);
    const written = this.#texts.get(id)?.length;
    if (written === undefined && content === '') return;
    if (written !== content.length) this.text(id, content.slice(written ?? 0));
    this.#out.push({ type: 'text-end', id });
    this.#texts.delete(id);
    this.#hasText ||= content !== '';
    this.#keep([
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: content },
      { type: 'text-end', id },
    ]);
    if (this.#texts.size === 0) this.#kept = null;
  }

  /** Takes back texts that will not be finished. Default: all open ones. */
  dropTexts(ids: readonly string[] = [...this.#texts.keys()]): void {
    const dropped = ids.filter((id) => this.#texts.delete(id));
    if (dropped.length === 0) return;
    this.#out.push({ type: 'reset-step' }, ...(this.#kept ?? []));
    for (const [id, text] of this.#texts)
      this.#out.push({ type: 'text-start', id }, { type: 'text-delta', id, delta: text.toString() });
  }

  hasOpenText(id: string): boolean {
    return this.#texts.has(id);
  }

  /** Ends the last step. A page that sends results by itself must find none in it, or it would send them for ever. */
  end(): void {
    if (this.#hasCalls) this.#next();
    this.#close();
  }

  get #isSettled(): boolean {
    return this.#hasCalls && this.#calls.size === 0;
  }

  #begin(id: string): void {
    if (this.#isSettled || this.#kept === null) this.#next();
    this.#open();
    this.#out.push({ type: 'text-start', id });
  }

  #next(): void {
    if (this.#texts.size > 0) return;
    this.#close();
    this.#open();
  }

  #close(): void {
    if (this.#isStepOpen) this.#out.push({ type: 'finish-step' });
    this.#isStepOpen = false;
  }

  #open(): void {
    if (this.#isStepOpen) return;
    this.#out.push({ type: 'start-step' });
    this.#isStepOpen = true;
    this.#kept = [];
    this.#hasCalls = false;
  }

  #put(chunks: readonly UiChunk[]): void {
    this.#out.push(...chunks);
    this.#keep(chunks);
    // Without a text to take back, only reasoning is worth keeping: the text that follows it belongs to it.
    if (this.#texts.size === 0 && !chunks.every(isReasoning)) this.#kept = null;
  }

  #keep(chunks: readonly UiChunk[]): void {
    this.#kept?.push(...chunks);
  }
}
