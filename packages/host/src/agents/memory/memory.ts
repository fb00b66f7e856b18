/**
 * The protocol's memory interface: list, get, put and delete, plus search. A write is a row in the log of its run and
 * becomes visible with that row. A repeated call therefore writes nothing twice.
 */
import { isoTime, quoted, TerminalError } from '@cairn/protocol';
import type { Sha256 } from '../../engine/ports.ts';
import type { Memories, MemoryRecord, MemoryRecordQuery } from '../../log/ports/memories.ts';
import { utf8Size } from '../../utf8.ts';
import type { HostToolContext } from '../tools/tool.ts';

/** An entry in its wire format (closed). */
export interface MemoryEntry {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
}

export interface NewMemoryEntry {
  readonly content: string;
  readonly tags?: readonly string[] | undefined;
  /** From this time on the entry is not visible. */
  readonly expiresAt?: number | undefined;
  /** Like `expiresAt`, counted from the write. */
  readonly ttlMs?: number | undefined;
}

export interface ListOptions {
  /** 0 or undefined: the host's limit, 100. */
  readonly limit?: number | undefined;
  readonly tag?: string | undefined;
}

/** The call that reads or writes a memory. It determines the owner and which entries are visible. */
export type MemoryCall = Pick<
  HostToolContext,
  'tenant' | 'runId' | 'nodeId' | 'agentId' | 'callId' | 'turnId' | 'requestedSeq' | 'record'
>;

export interface MemoryPorts {
  readonly memories: Memories;
  readonly now: () => number;
  readonly sha256: Sha256;
}

/** In UTF-8. */
export const MAX_ENTRY_BYTES = 65_536;
const MAX_TAGS = 32;
const MAX_TAG_LENGTH = 256;
const MAX_REF_LENGTH = 256;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

export class Memory {
  readonly #ports: MemoryPorts;

  constructor(ports: MemoryPorts) {
    this.#ports = ports;
  }

  /** Newest first. Empty for an invalid reference, or one that the tenant never used. */
  async list(call: MemoryCall, memoryRef: string, options: ListOptions = {}): Promise<readonly MemoryEntry[]> {
    const query = this.#query(call, memoryRef, options);
    return query === null ? [] : (await this.#ports.memories.list(query)).map(shown);
  }

  async get(call: MemoryCall, memoryRef: string, id: string): Promise<MemoryEntry | null> {
    const query = this.#query(call, memoryRef);
    const found = query === null ? null : await this.#ports.memories.get(query, id);
    return found === null ? null : shown(found);
  }

  /** Entries that contain words of the text, best match first. */
  async search(
    call: MemoryCall,
    memoryRef: string,
    text: string,
    options: ListOptions = {},
  ): Promise<readonly MemoryEntry[]> {
    const query = this.#query(call, memoryRef, options);
    return query === null ? [] : (await this.#ports.memories.search(query, text)).map(shown);
  }

  /**
   * Resolves with the stored entry once it is durable. The id is derived from the call and the number of the write in
   * it, so a repeated write is the same entry. Throws `validation_error`.
   */
  async put(call: MemoryCall, memoryRef: string, entry: NewMemoryEntry, number = 0): Promise<MemoryEntry> {
    if (!isRef(memoryRef))
      throw refused(`the memory ${quoted(memoryRef, 80)} cannot be`, 'Use a reference of 1 to 256 characters.');
    const { now, sha256 } = this.#ports;
    const memoryId = `mem_${sha256([call.runId, call.callId, number].join('\0'), 'base64url')}`;
    const known = await this.#kept(call, memoryRef, memoryId);
    if (known !== null) return known;
    const { nodeId, agentId } = call;
    const tags = tagsOf(entry);
    const what = { memoryRef, memoryId };
    const kept = { ...what, content: contentOf(entry), tags, ...expiryOf(entry, now()), turn: call.turnId };
    await call.record([
      { type: 'cairn.memory.kept', payload: kept },
      { type: 'memory.written', payload: { ...what, nodeId, agentId, tags } },
    ]);
    return (await this.#kept(call, memoryRef, memoryId)) as MemoryEntry;
  }

  /** Returns whether the run saw the entry. The run stops seeing it from its next turn on. */
  async delete(call: MemoryCall, memoryRef: string, id: string): Promise<boolean> {
    if ((await this.get(call, memoryRef, id)) === null) return false;
    const payload = { memoryRef, memoryId: id, turn: call.turnId };
    await call.record([{ type: 'cairn.memory.dropped', payload }]);
    return true;
  }

  /** An entry that the run wrote, even if it has expired or was deleted by others: it must not be written again. */
  async #kept({ tenant, runId }: MemoryCall, memoryRef: string, id: string): Promise<MemoryEntry | null> {
    const asOf = { runId, beforeSeq: Number.MAX_SAFE_INTEGER };
    const found = await this.#ports.memories.get({ tenant, memoryRef, now: 0, asOf }, id);
    return found === null ? null : shown(found);
  }

  #query(call: MemoryCall, memoryRef: string, { limit = 0, tag }: ListOptions = {}): MemoryRecordQuery | null {
    if (!isRef(memoryRef)) return null;
    const { tenant, runId, requestedSeq } = call;
    return {
      tenant,
      memoryRef,
      now: this.#ports.now(),
      limit: limit > 0 ? Math.min(Math.ceil(limit), MAX_LIMIT) : DEFAULT_LIMIT,
      tag,
      asOf: { runId, beforeSeq: requestedSeq, turn: call.turnId },
    };
  }
}

/** Any text of valid length without control characters. Its meaning is up to its creator. */
const isRef = (memoryRef: string): boolean =>
  typeof memoryRef === 'string' &&
  memoryRef.length > 0 &&
  memoryRef.length <= MAX_REF_LENGTH &&
  memoryRef.isWellFormed() &&
  !/\p{Cc}/u.test(memoryRef);

function contentOf({ content }: NewMemoryEntry): string {
  const text = content.toWellFormed();
  if (text.trim() === '') throw refused('the content is empty', 'Say what is to be remembered.');
  const bytes = utf8Size(text);
  if (bytes <= MAX_ENTRY_BYTES) return text;
  throw refused(`the content has ${bytes} bytes, and ${MAX_ENTRY_BYTES} are the most`, 'Keep the gist of it.');
}

function tagsOf({ tags = [] }: NewMemoryEntry): readonly string[] {
  const wanted = [...new Set(tags.map((tag) => tag.toWellFormed()).filter((tag) => tag !== ''))];
  if (wanted.length > MAX_TAGS)
    throw refused(`it has ${wanted.length} tags, and ${MAX_TAGS} are the most`, 'Use fewer.');
  const long = wanted.find((tag) => tag.length > MAX_TAG_LENGTH);
  if (long === undefined) return wanted;
  throw refused(`the tag ${quoted(long, 40)} has ${long.length} characters`, `Use at most ${MAX_TAG_LENGTH}.`);
}

function expiryOf(entry: NewMemoryEntry, now: number): { readonly expiresAt?: string } {
  const { ttlMs, expiresAt = ttlMs === undefined ? undefined : now + ttlMs } = entry;
  if (expiresAt === undefined) return {};
  if (Number.isFinite(expiresAt) && expiresAt > now) return { expiresAt: isoTime(Math.ceil(expiresAt)) };
  const when = Number.isFinite(expiresAt) ? isoTime(Math.floor(expiresAt)) : String(expiresAt);
  throw refused(`it expires at ${when}, and now it is ${isoTime(now)}`, 'Give an instant to come, or none.');
}

/** Reveals nothing about other entries. */
const refused = (why: string, hint: string): TerminalError =>
  new TerminalError('validation_error', { message: `This cannot be remembered: ${why}.`, hint });

const shown = ({ id, content, tags, createdAt, expiresAt }: MemoryRecord): MemoryEntry => ({
  id,
  content,
  tags,
  createdAt: isoTime(createdAt),
  ...(expiresAt === null ? {} : { expiresAt: isoTime(expiresAt) }),
});
