/** Shows what agents do as it happens: who acts, their reasoning and text, tool calls and decisions. */
import type { RunEventDoc } from '@cairn/protocol';
import { eventWriters, INDENT, type NodeProgress, type NodeWriter, type TextKind } from './agent-event-writers.ts';
import { noUsage, type Usage, usageAfter } from './agent-usage.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { oneLine, type Style } from './style.ts';
import { cut, wrap } from './table.ts';
import { TextFlow, type TextOutput } from './text-flow.ts';

export interface TranscriptOutput extends TextOutput {
  readonly style: Style;
}

/** A run on the screen. The lines of a child run are indented below its heading. */
export interface RunPlace {
  readonly runId: string;
  readonly parent: RunPlace | null;
  /** Shown before its lines, again after the lines of another run; empty for the root. */
  readonly heading: string;
}

const rootPlace: RunPlace = { runId: '', parent: null, heading: '' };

const indentOf = ({ parent }: RunPlace): string => (parent === null ? '' : `${indentOf(parent)}    `);

const isWithin = (place: RunPlace | null, outer: RunPlace): boolean =>
  place !== null && (place.runId === outer.runId || isWithin(place.parent, outer));

const THOUGHT_INDENT = `${INDENT}┊ `;

interface ShownNode {
  readonly nodeId: string;
  readonly place: RunPlace;
}

/** Nodes of different runs may have the same id. */
const keyOf = ({ nodeId, place }: ShownNode): string => JSON.stringify([place.runId, nodeId]);

/**
 * While a line of one node is open, the output of other nodes is queued. So concurrent streams stay readable, and nothing
 * on the screen is ever overwritten.
 */
export class AgentTranscript {
  readonly #output: TranscriptOutput;
  readonly #names = new Map<string, string>();
  readonly #nodes = new Map<string, NodeProgress>();
  #openNode: string | null = null;
  /** The run of the last line. */
  #shown: RunPlace = rootPlace;
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
  add(event: RunEventDoc, place: RunPlace = rootPlace): boolean {
    this.#usage = usageAfter(this.#usage, event);
    const payload = fieldsOf(event.payload);
    this.#learnNames(payload);
    const write = eventWriters.get(event.type);
    if (write === undefined) return false;
    const node = { nodeId: event.nodeId ?? '', place };
    this.#whenFree(keyOf(node), () => write(this.#writerOf(node), payload));
    return true;
  }

  /** Shows another line of a node, in its turn. */
  addLine(nodeId: string, line: string, place: RunPlace = rootPlace): void {
    const key = keyOf({ nodeId, place });
    this.#whenFree(key, () => {
      this.#close(key);
      this.#turnTo(place);
      for (const part of wrap(line, this.#output.columns, indentOf(place))) this.#output.line(part);
    });
  }

  /** Shows the heading of a run that begins. */
  begin(place: RunPlace): void {
    this.#whenFree(keyOf({ nodeId: '', place }), () => this.#turnTo(place));
  }

  /** Writes the queue and ends the open line. */
  flush(): void {
    for (;;) {
      if (this.#openNode !== null) this.#close(this.#openNode);
      if (this.#queue.length === 0) return;
      this.#writeQueue();
    }
  }

  /** Before a line of another run than the last one. Lines of an outer run need no heading: their indent shows it. */
  #turnTo(place: RunPlace): void {
    if (!isWithin(this.#shown, place) && place.heading !== '') {
      this.#output.line(`${indentOf(place).slice(2)}${place.heading}`);
    }
    this.#shown = place;
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

  #streamText(shownNode: ShownNode, kind: TextKind, block: string, text: string): void {
    const key = keyOf(shownNode);
    const node = this.#progressOf(key);
    if (node.open !== null && (node.open.kind !== kind || node.open.block !== block)) this.#close(key);
    // A text does not start with empty lines.
    const shown = node.open === null ? text.trimStart() : text;
    if (shown === '') return;
    if (node.open === null) {
      this.#turnTo(shownNode.place);
      node.open = { kind, flow: this.#newFlow(kind, shownNode.place), block };
    }
    this.#openNode = key;
    if (kind === 'text') node.hasSpoken = true;
    else node.hasShownThoughts = true;
    node.open.flow.add(shown);
  }

  #newFlow(kind: TextKind, place: RunPlace): TextFlow {
    const indent = indentOf(place);
    if (kind === 'thought') return new TextFlow(this.#output, `${indent}${THOUGHT_INDENT}`, this.#output.style.dim);
    return new TextFlow(this.#output, `${indent}${INDENT}`, (words) => words);
  }

  #writerOf(shown: ShownNode): NodeWriter {
    const { style, columns } = this.#output;
    const key = keyOf(shown);
    const line = (text: string) => {
      this.#close(key);
      this.#turnTo(shown.place);
      this.#output.line(text);
    };
    const indent = indentOf(shown.place);
    return {
      style,
      node: this.#progressOf(key),
      nodeId: shown.nodeId,
      nameOf: (agentId) => this.#nameOf(agentId),
      line: (text) => line(columns === null ? `${indent}${text}` : cut(`${indent}${text}`, columns)),
      failure: (text) => {
        for (const part of wrap(text, columns, indent)) line(part);
      },
      wrapped: (kind, text) => {
        this.#close(key);
        this.#streamText(shown, kind, '', text);
        this.#close(key);
      },
      flow: (kind, block, text) => this.#streamText(shown, kind, block, text),
      close: () => this.#close(key),
    };
  }

  /** The persona, or the last part of the id. */
  #nameOf(agentId: unknown): string {
    if (typeof agentId !== 'string') return 'somebody';
    return oneLine(this.#names.get(agentId) ?? agentId.split(/[.:]/).at(-1) ?? agentId, 60);
  }
}
