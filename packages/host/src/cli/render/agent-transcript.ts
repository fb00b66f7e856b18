/** Shows what agents do as it happens: who acts, their reasoning and text, tool calls and decisions. */
import type { RunEventDoc } from '@cairn/protocol';
import { eventWriters, INDENT, type NodeProgress, type NodeWriter, type TextKind } from './agent-event-writers.ts';
import { noUsage, type Usage, usageAfter } from './agent-usage.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { oneLine, type Style } from './style.ts';
import { cut } from './table.ts';
import { TextFlow, type TextOutput } from './text-flow.ts';

export interface TranscriptOutput extends TextOutput {
  readonly style: Style;
}

const THOUGHT_INDENT = `${INDENT}┊ `;

/**
 * While a line of one node is open, the output of other nodes is queued. So concurrent streams stay readable, and nothing
 * on the screen is ever overwritten.
 */
export class AgentTranscript {
  readonly #output: TranscriptOutput;
  readonly #names = new Map<string, string>();
  readonly #nodes = new Map<string, NodeProgress>();
  #openNode: string | null = null;
  #queue: { readonly nodeId: string; readonly write: () => void }[] = [];
  #usage: Usage = noUsage;

  constructor(output: TranscriptOutput) {
    this.#output = output;
  }

  /** The usage of all agents so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Shows an event; false if it is not an agent event, so the caller must show it. */
  add(event: RunEventDoc): boolean {
    this.#usage = usageAfter(this.#usage, event);
    const payload = fieldsOf(event.payload);
    this.#learnNames(payload);
    const write = eventWriters.get(event.type);
    if (write === undefined) return false;
    const nodeId = event.nodeId ?? '';
    this.#whenFree(nodeId, () => write(this.#writerOf(nodeId), payload));
    return true;
  }

  /** Shows another line of a node, in its turn. */
  addLine(nodeId: string, line: string): void {
    this.#whenFree(nodeId, () => {
      this.#close(nodeId);
      this.#output.line(line);
    });
  }

  /** Writes the queue and ends the open line. */
  flush(): void {
    for (;;) {
      if (this.#openNode !== null) this.#close(this.#openNode);
      if (this.#queue.length === 0) return;
      this.#writeQueue();
    }
  }

  #learnNames(payload: Fields): void {
    for (const ref of [payload.agent, payload.from, payload.to]) {
      const { agentId, name } = fieldsOf(ref);
      if (typeof agentId === 'string' && typeof name === 'string') this.#names.set(agentId, name);
    }
  }

  #whenFree(nodeId: string, write: () => void): void {
    if (this.#openNode !== null && this.#openNode !== nodeId) {
      this.#queue.push({ nodeId, write });
      return;
    }
    write();
    if (this.#openNode === null && this.#queue.length > 0) this.#writeQueue();
  }

  /** Writes in event order, except that the node with the open line goes first. */
  #writeQueue(): void {
    for (;;) {
      const waiting = this.#queue;
      this.#queue = [];
      for (const entry of waiting) {
        if (this.#openNode === null || this.#openNode === entry.nodeId) entry.write();
        else this.#queue.push(entry);
      }
      if (this.#queue.length === 0 || this.#openNode !== null) return;
    }
  }

  #progressOf(nodeId: string): NodeProgress {
    let node = this.#nodes.get(nodeId);
    if (node === undefined) {
      node = { open: null, hasShownThoughts: false, hasSpoken: false };
      this.#nodes.set(nodeId, node);
    }
    return node;
  }

  #close(nodeId: string): void {
    const node = this.#progressOf(nodeId);
    node.open?.flow.end();
    node.open = null;
    if (this.#openNode === nodeId) this.#openNode = null;
  }

  #streamText(nodeId: string, kind: TextKind, block: string, text: string): void {
    const node = this.#progressOf(nodeId);
    if (node.open !== null && (node.open.kind !== kind || node.open.block !== block)) this.#close(nodeId);
    // A text does not start with empty lines.
    const shown = node.open === null ? text.trimStart() : text;
    if (shown === '') return;
    node.open ??= { kind, flow: this.#newFlow(kind), block };
    this.#openNode = nodeId;
    if (kind === 'text') node.hasSpoken = true;
    else node.hasShownThoughts = true;
    node.open.flow.add(shown);
  }

  #newFlow(kind: TextKind): TextFlow {
    if (kind === 'thought') return new TextFlow(this.#output, THOUGHT_INDENT, this.#output.style.dim);
    return new TextFlow(this.#output, INDENT, (words) => words);
  }

  #writerOf(nodeId: string): NodeWriter {
    const { style, columns } = this.#output;
    return {
      style,
      node: this.#progressOf(nodeId),
      nodeId,
      nameOf: (agentId) => this.#nameOf(agentId),
      line: (text) => {
        this.#close(nodeId);
        this.#output.line(columns === null ? text : cut(text, columns));
      },
      wrapped: (kind, text) => {
        this.#close(nodeId);
        this.#streamText(nodeId, kind, '', text);
        this.#close(nodeId);
      },
      flow: (kind, block, text) => this.#streamText(nodeId, kind, block, text),
      close: () => this.#close(nodeId),
    };
  }

  /** The persona, or the last part of the id. */
  #nameOf(agentId: unknown): string {
    if (typeof agentId !== 'string') return 'somebody';
    return oneLine(this.#names.get(agentId) ?? agentId.split(/[.:]/).at(-1) ?? agentId, 60);
  }
}
