/** What agents do, told as it happens: who acts, what they think and say, which tools they call, what they decide. */
import type { Json, JsonObject, RunEventDoc } from '@cairn/protocol';
import { noUsage, type Usage, usageAfter } from './agent-usage.ts';
import { oneLine, type Style, safe } from './style.ts';
import { cut } from './table.ts';
import { TextFlow, type TextOutput } from './text-flow.ts';
import { toolCallText, toolResultText } from './tool-lines.ts';

export interface TranscriptOutput extends TextOutput {
  readonly style: Style;
}

type Flowing = 'thought' | 'text';

/** What is known of a node while an agent acts in it. */
interface Scene {
  /** Thoughts or text that are being shown. */
  open: { readonly kind: Flowing; readonly flow: TextFlow; readonly block: string } | null;
  /** Whether the thoughts that are closed next were shown as they came. */
  hasShownThoughts: boolean;
  /** Whether the agent said anything since it last decided. */
  hasSpoken: boolean;
}

const INDENT = '    ';
const THOUGHT_INDENT = `${INDENT}┊ `;
/** How much of a value is shown where lines have no end. */
const VALUE_LENGTH = 200;

/**
 * Only one node has the floor while a line of it is open: what the others do meanwhile is told once it is done. So texts
 * that stream side by side stay readable, and nothing that was written is written over.
 */
export class AgentTranscript {
  readonly #output: TranscriptOutput;
  readonly #names = new Map<string, string>();
  readonly #scenes = new Map<string, Scene>();
  #floor: string | null = null;
  #held: { readonly nodeId: string; readonly tell: () => void }[] = [];
  #usage: Usage = noUsage;

  constructor(output: TranscriptOutput) {
    this.#output = output;
  }

  /** What the agents used so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Takes an event; false when it is none of an agent's, and told by nobody yet. */
  add(event: RunEventDoc): boolean {
    this.#usage = usageAfter(this.#usage, event);
    const payload = (event.payload ?? {}) as JsonObject;
    this.#learnNames(payload);
    const tell = tellings.get(event.type);
    if (tell === undefined) return false;
    const nodeId = event.nodeId ?? '';
    this.#onFloor(nodeId, () => tell(this.#teller(nodeId), payload));
    return true;
  }

  /** Tells something else that happened to a node, in its turn. */
  addLine(nodeId: string, line: string): void {
    this.#onFloor(nodeId, () => {
      this.#close(nodeId);
      this.#output.line(line);
    });
  }

  /** Tells all that is held back and ends the line that is open. */
  flush(): void {
    for (;;) {
      if (this.#floor !== null) this.#close(this.#floor);
      if (this.#held.length === 0) return;
      this.#drain();
    }
  }

  #learnNames(payload: JsonObject): void {
    for (const ref of [payload.agent, payload.from, payload.to] as readonly (Json | undefined)[]) {
      if (typeof ref !== 'object' || ref === null || Array.isArray(ref)) continue;
      const { agentId, name } = ref as JsonObject;
      if (typeof agentId === 'string' && typeof name === 'string') this.#names.set(agentId, name);
    }
  }

  #onFloor(nodeId: string, tell: () => void): void {
    if (this.#floor !== null && this.#floor !== nodeId) {
      this.#held.push({ nodeId, tell });
      return;
    }
    tell();
    if (this.#floor === null && this.#held.length > 0) this.#drain();
  }

  /** In the order in which it happened, as far as nobody who began a line has to wait for another. */
  #drain(): void {
    for (;;) {
      const waiting = this.#held;
      this.#held = [];
      for (const entry of waiting) {
        if (this.#floor === null || this.#floor === entry.nodeId) entry.tell();
        else this.#held.push(entry);
      }
      if (this.#held.length === 0 || this.#floor !== null) return;
    }
  }

  #scene(nodeId: string): Scene {
    let scene = this.#scenes.get(nodeId);
    if (scene === undefined) {
      scene = { open: null, hasShownThoughts: false, hasSpoken: false };
      this.#scenes.set(nodeId, scene);
    }
    return scene;
  }

  #close(nodeId: string): void {
    const scene = this.#scene(nodeId);
    scene.open?.flow.end();
    scene.open = null;
    if (this.#floor === nodeId) this.#floor = null;
  }

  #flow(nodeId: string, kind: Flowing, block: string, text: string): void {
    const scene = this.#scene(nodeId);
    if (scene.open !== null && (scene.open.kind !== kind || scene.open.block !== block)) this.#close(nodeId);
    // Nothing begins with empty lines.
    const shown = scene.open === null ? text.trimStart() : text;
    if (shown === '') return;
    scene.open ??= { kind, flow: this.#newFlow(kind), block };
    this.#floor = nodeId;
    if (kind === 'text') scene.hasSpoken = true;
    else scene.hasShownThoughts = true;
    scene.open.flow.add(shown);
  }

  #newFlow(kind: Flowing): TextFlow {
    if (kind === 'thought') return new TextFlow(this.#output, THOUGHT_INDENT, this.#output.style.dim);
    return new TextFlow(this.#output, INDENT, (words) => words);
  }

  #teller(nodeId: string): Teller {
    const { style, columns } = this.#output;
    return {
      style,
      scene: this.#scene(nodeId),
      nodeId,
      nameOf: (agentId) => this.#nameOf(agentId),
      line: (text) => {
        this.#close(nodeId);
        this.#output.line(columns === null ? text : cut(text, columns));
      },
      wrapped: (kind, text) => {
        this.#close(nodeId);
        this.#flow(nodeId, kind, '', text);
        this.#close(nodeId);
      },
      flow: (kind, block, text) => this.#flow(nodeId, kind, block, text),
      close: () => this.#close(nodeId),
    };
  }

  /** The persona; else the last word of the id. */
  #nameOf(agentId: Json | undefined): string {
    if (typeof agentId !== 'string') return 'somebody';
    return oneLine(this.#names.get(agentId) ?? agentId.split(/[.:]/).at(-1) ?? agentId, 60);
  }
}

/** What the telling of one event may use. */
interface Teller {
  readonly style: Style;
  readonly scene: Scene;
  readonly nodeId: string;
  nameOf(agentId: Json | undefined): string;
  line(text: string): void;
  wrapped(kind: Flowing, text: string): void;
  flow(kind: Flowing, block: string, text: string): void;
  close(): void;
}

type Telling = (teller: Teller, payload: JsonObject) => void;

const silent: Telling = () => undefined;

const tellings: ReadonlyMap<string, Telling> = new Map(
  Object.entries<Telling>({
    'agent.invocation.started': ({ style, scene, nodeId, nameOf, line }, { agentId }) => {
      scene.hasSpoken = false;
      line(`  ${style.cyan('●')} ${style.bold(nameOf(agentId))}  ${style.dim(safe(nodeId))}`);
    },
    'agent.promptResolved': silent,
    'agent.reasoning.delta': ({ flow }, { delta }) => flow('thought', '', textOf(delta)),
    'agent.reasoned': ({ scene, close, wrapped }, { reasoning }) => {
      // They are closed only once the turn is over; the text that followed them may still get its last piece.
      const isNew = !scene.hasShownThoughts && textOf(reasoning) !== '';
      if (isNew || scene.open?.kind === 'thought') close();
      if (isNew) wrapped('thought', textOf(reasoning));
      scene.hasShownThoughts = false;
    },
    'output.chunk': ({ flow, close }, { chunk, channel, isLast }) => {
      flow('text', textOf(channel), textOf(chunk));
      if (isLast === true) close();
    },
    'provider.usage': silent,
    'agent.toolCalled': ({ style, line }, payload) =>
      line(`${INDENT}${style.cyan('→')} ${toolCallText(payload, style)}`),
    'agent.toolReturned': ({ style, line }, payload) => line(`${INDENT}${toolResultText(payload, style)}`),
    'cairn.tool.progress': ({ style, line }, { progress, message }) => {
      const share = typeof progress === 'number' ? `${Math.round(progress * 100)} % ` : '';
      line(
        `${INDENT}${style.dim(`… ${share}${message === undefined ? '' : oneLine(message, VALUE_LENGTH)}`)}`.trimEnd(),
      );
    },
    'agent.decided': ({ style, scene, line }, { decision, confidence }) => {
      // Who only answers decides what was just read.
      const isKnown = scene.hasSpoken && confidence === undefined;
      scene.hasSpoken = false;
      if (isKnown) return;
      const sure = confidence === undefined ? '' : style.dim(`  confidence ${oneLine(confidence)}`);
      line(`${INDENT}${style.green('◆')} decides ${oneLine(decision, VALUE_LENGTH)}${sure}`);
    },
    'agent.handoff': ({ style, nameOf, line }, { toAgentId, reason, context }) => {
      // From node to node nothing is handed over but the turn, and whose turn it is follows.
      if (context === undefined && reason === undefined) return;
      const why = reason === undefined ? '' : `: ${oneLine(reason, VALUE_LENGTH)}`;
      line(`${INDENT}${style.cyan('⇢')} hands over to ${style.bold(nameOf(toAgentId))}${why}`);
    },
    'agent.invocation.completed': ({ style, close, nameOf, line }, { agentId, outcome }) => {
      close();
      if (outcome === 'refused' || outcome === 'failed') {
        line(`${INDENT}${style.red('✗')} ${nameOf(agentId)} ${outcome === 'refused' ? 'refuses' : 'fails'}`);
      }
    },
    'cairn.model.requested': silent,
    // That it failed is told where it is tried again, or by the end of the node: not everybody sees this row.
    'cairn.model.returned': silent,
    'cairn.error': ({ style, line }, { code, message, scope, retryAfterMs }) => {
      const whose = scope === 'llm' ? 'the model failed: ' : '';
      const again = typeof retryAfterMs === 'number' ? style.dim(`  again in ${Math.ceil(retryAfterMs / 1000)} s`) : '';
      line(`${INDENT}${style.yellow('!')} ${whose}${oneLine(code)}: ${oneLine(message, VALUE_LENGTH)}${again}`);
    },
    'cairn.model.abandoned': ({ style, scene, line }) => {
      scene.hasShownThoughts = false;
      line(`${INDENT}${style.yellow('↻')} that answer was cut off; the model is asked again`);
    },
    'cap.breached': ({ style, line }, { kind, limit, observed }) =>
      line(`${INDENT}${style.yellow('!')} ${oneLine(kind)}: ${oneLine(observed)}, and the limit is ${oneLine(limit)}`),
  }),
);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
