/** `ctx.file`, `ctx.data`, `ctx.dataset` and `ctx.think` of one entry into a tool. */
import {
  type Json,
  type JsonObject,
  quoted,
  TerminalError,
  type ThoughtType,
  thoughtTypes,
  type Verbosity,
  verbosityLevels,
} from '@cairn/protocol';
import type { ReasoningVerbosity } from '../models/turn.ts';
import { isArtifactName, isMimeType, MAX_ARTIFACT_NAME } from './artifact-names.ts';
import type {
  ArtifactCall,
  ArtifactDataset,
  ArtifactFile,
  ArtifactOptions,
  ArtifactPort,
  ArtifactRef,
  DatasetOptions,
  FileOptions,
  OpenArtifact,
} from './artifact-port.ts';
import { never } from './unwatched.ts';

/** A ctx call that has a result in the record, or gets one at its end. Null: the function should no longer run. */
export type BegunCall =
  | { readonly known: Json }
  | { readonly end: (work: () => Json | Promise<Json>) => Promise<Json> }
  | null;

export interface CallArtifactsPorts {
  readonly port: ArtifactPort;
  readonly call: ArtifactCall;
  readonly reasoning: ReasoningVerbosity;
  /** Takes the next place among the ctx calls. */
  readonly begin: (name: string) => BegunCall;
}

export interface ThoughtOptions {
  /** Default `reasoning`, which also stands for the last two and for every other type. */
  readonly type?: ThoughtType | 'analysis' | 'thinking' | undefined;
  /** Default `normal`. */
  readonly verbosity?: Verbosity | undefined;
  /** From 0 to 1. */
  readonly confidence?: number | undefined;
  readonly alternatives?: readonly string[] | undefined;
  /** The id of a thought or of a tool call. */
  readonly relatedTo?: string | undefined;
  /** `operator`: clients do not see it. Default `client`. */
  readonly visibility?: 'client' | 'operator' | undefined;
}

const MAX_REFERENCE = 200;
const MAX_THOUGHT = 20_000;
const MAX_ALTERNATIVES = 20;

export class CallArtifacts {
  readonly #ports: CallArtifactsPorts;
  /** Versions that are not closed, by name. */
  readonly #open = new Map<string, { abandon(): Promise<void> }>();

  constructor(ports: CallArtifactsPorts) {
    this.#ports = ports;
  }

  /** Why the function may not return yet: it has not closed a version. Null when it closed all. */
  leftOpen(toolId: string): string | null {
    const [name] = this.#open.keys();
    return name === undefined ? null : `The tool ${toolId} returned before it closed ${JSON.stringify(name)}.`;
  }

  /** The entry is over, or waits for a person: versions that are not closed never become current. */
  abandonAll(): void {
    for (const version of this.#open.values()) version.abandon().catch(() => undefined);
    this.#open.clear();
  }

  file(given: string, options: FileOptions = {}): ArtifactFile {
    const { port, call } = this.#ports;
    checkMimeType(options.mimeType);
    const name = this.#name(given);
    const open = this.#opened<string | Uint8Array>(`file ${name}`, name, () => port.file(call, name, options));
    let stream: WritableStream<string | Uint8Array> | null = null;
    return {
      ...open,
      get stream() {
        stream ??= new WritableStream({
          write: (data) => open.write(data),
          close: () => open.close().then(() => undefined),
        });
        return stream;
      },
    };
  }

  dataset(given: string, options: DatasetOptions = {}): ArtifactDataset {
    const { port, call } = this.#ports;
    const name = this.#name(given);
    return this.#opened<readonly JsonObject[]>(`dataset ${name}`, name, () => port.dataset(call, name, options));
  }

  async data(given: string, record: JsonObject, options: ArtifactOptions = {}): Promise<ArtifactRef> {
    const { port, call } = this.#ports;
    const name = this.#name(given);
    const begun = this.#ports.begin(`data ${name}`);
    if (begun === null) return never();
    if ('known' in begun) return refOf(begun.known);
    return refOf(await begun.end(async () => ({ ...(await port.data(call, name, record, options)) })));
  }

  /** The store keeps the name of a version that is open, too: it holds no secret from the start. */
  #name(given: string): string {
    return checkedName(this.#clean(checkedName(given)));
  }

  #clean(text: string): string {
    return this.#ports.call.redactor?.text(text) ?? text;
  }

  async think(content: string, options: ThoughtOptions = {}): Promise<void> {
    const begun = this.#ports.begin('think');
    if (begun === null) return never();
    if ('known' in begun) return;
    await begun.end(async () => {
      await this.#recordThought(content, options);
      return null;
    });
  }

  async #recordThought(content: string, options: ThoughtOptions): Promise<void> {
    const { call, reasoning } = this.#ports;
    const { type = 'reasoning', verbosity = 'normal', confidence, alternatives, relatedTo, visibility } = options;
    if (!verbosityLevels.includes(verbosity)) {
      const message = `A thought has one of the levels ${verbosityLevels.join(', ')}.`;
      throw new TerminalError('tool_failed', { message });
    }
    if (reasoning === 'off' || (reasoning === 'summary' && verbosity === 'detailed')) return;
    // Redacted before it is cut: a secret that is cut in two would not be found.
    const cut = (text: string, most: number): string => this.#clean(text).slice(0, most).toWellFormed();
    const metadata = {
      ...(confidence !== undefined && { confidence: Math.min(1, Math.max(0, confidence)) }),
      ...(alternatives !== undefined && {
        alternatives: alternatives.slice(0, MAX_ALTERNATIVES).map((one) => cut(one, MAX_THOUGHT / 10)),
      }),
      ...(relatedTo !== undefined && { relatedTo: cut(relatedTo, MAX_REFERENCE) }),
      ...(visibility === 'operator' && { visibility }),
    };
    const text = cut(content, MAX_THOUGHT);
    const level = verbosity === 'detailed' ? 'full' : 'summary';
    const thought = {
      agentId: call.agentId,
      reasoning: text,
      verbosity: level,
      thoughtType: thoughtTypes.find((known) => known === type) ?? 'reasoning',
      level: verbosity,
    } as const;
    await call.record([{ type: 'agent.reasoned', payload: { ...thought, ...metadata } }]);
  }

  /** A version whose result is in the record takes writes without performing them. */
  #opened<Piece>(ctxCall: string, name: string, open: () => OpenArtifact<Piece>) {
    const begun = this.#ports.begin(ctxCall);
    if (begun === null) return { write: () => never<void>(), close: () => never<ArtifactRef>() };
    if ('known' in begun) {
      const { known } = begun;
      return { write: async (_: Piece) => undefined, close: async () => refOf(known) };
    }
    const version = open();
    this.#open.set(name, version);
    return {
      write: (piece: Piece) => version.write(piece),
      close: async () => {
        const ref = await begun.end(async () => ({ ...(await version.close()) }));
        this.#open.delete(name);
        return refOf(ref);
      },
    };
  }
}

/** The record holds what `close` and `data` returned. */
const refOf = (value: Json): ArtifactRef => {
  const { artifactId = '', version = 0 } = value as Partial<Record<keyof ArtifactRef, Json>>;
  return { artifactId: String(artifactId), version: Number(version) };
};

function checkedName(name: string): string {
  if (typeof name === 'string' && isArtifactName(name)) return name;
  throw new TerminalError('tool_failed', {
    message: `An artifact cannot have the name ${quoted(String(name), 80)}.`,
    hint: `Use at most ${MAX_ARTIFACT_NAME} characters, such as report.md: no "..", "\\" or control characters.`,
  });
}

function checkMimeType(mimeType: string | undefined): void {
  if (mimeType === undefined || isMimeType(mimeType)) return;
  throw new TerminalError('tool_failed', {
    message: `A file cannot have the media type ${quoted(mimeType, 80)}.`,
    hint: 'Use a type such as text/markdown, or leave it out: then the name of the file decides.',
  });
}
