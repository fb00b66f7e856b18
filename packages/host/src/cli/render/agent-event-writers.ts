/** How each agent event appears in the transcript. */
import type { Fields } from './fields.ts';
import { oneLine, type Style, safe } from './style.ts';
import type { TextFlow } from './text-flow.ts';
import { toolCallText, toolResultText } from './tool-lines.ts';

export type TextKind = 'thought' | 'text';

/** What is on the screen for a node. */
export interface NodeProgress {
  /** The reasoning or text that is streaming. */
  open: { readonly kind: TextKind; readonly flow: TextFlow; readonly block: string } | null;
  /** Whether the current reasoning was streamed. */
  hasShownThoughts: boolean;
  /** Whether the agent has said anything since its last decision. */
  hasSpoken: boolean;
}

export const INDENT = '    ';

/** The maximum length of a value on one line. */
const VALUE_LENGTH = 200;

/** What the writer of an event can use. */
export interface NodeWriter {
  readonly style: Style;
  readonly node: NodeProgress;
  readonly nodeId: string;
  nameOf(agentId: unknown): string;
  line(text: string): void;
  /** A line about an error. It is wrapped, never cut. */
  failure(text: string): void;
  wrapped(kind: TextKind, text: string): void;
  flow(kind: TextKind, block: string, text: string): void;
  close(): void;
}

type EventWriter = (writer: NodeWriter, payload: Fields) => void;

const silent: EventWriter = () => undefined;

/** By event type. Other types are not agent events. */
export const eventWriters: ReadonlyMap<string, EventWriter> = new Map(
  Object.entries<EventWriter>({
    'agent.invocation.started': ({ style, node, nodeId, nameOf, line }, { agentId }) => {
      node.hasSpoken = false;
      line(`  ${style.cyan('●')} ${style.bold(nameOf(agentId))}  ${style.dim(safe(nodeId))}`);
    },
    'agent.promptResolved': silent,
    'agent.reasoning.delta': ({ flow }, { delta }) => flow('thought', '', textOf(delta)),
    'agent.reasoned': ({ node, close, wrapped }, { reasoning }) => {
      // This row comes after the turn, so a text that follows the reasoning may still be open.
      const isNew = !node.hasShownThoughts && textOf(reasoning) !== '';
      if (isNew || node.open?.kind === 'thought') close();
      if (isNew) wrapped('thought', textOf(reasoning));
      node.hasShownThoughts = false;
    },
    'output.chunk': ({ flow, close }, { chunk, channel, isLast }) => {
      flow('text', textOf(channel), textOf(chunk));
      if (isLast === true) close();
    },
    'provider.usage': silent,
    'agent.toolCalled': ({ style, line }, payload) =>
      line(`${INDENT}${style.cyan('→')} ${toolCallText(payload, style)}`),
    'agent.toolReturned': ({ style, line, failure }, payload) =>
      (payload.error === undefined || payload.error === null ? line : failure)(
        `${INDENT}${toolResultText(payload, style)}`,
      ),
    'cairn.tool.progress': ({ style, line }, { progress, message, indeterminate }) => {
      if (indeterminate === true && message === undefined) return;
      const share = typeof progress === 'number' && indeterminate !== true ? `${Math.round(progress * 100)} % ` : '';
      line(
        `${INDENT}${style.dim(`… ${share}${message === undefined ? '' : oneLine(message, VALUE_LENGTH)}`)}`.trimEnd(),
      );
    },
    'agent.decided': ({ style, node, line }, { decision, confidence }) => {
      // Without a confidence, the decision is the text above.
      const isKnown = node.hasSpoken && confidence === undefined;
      node.hasSpoken = false;
      if (isKnown) return;
      const sure = confidence === undefined ? '' : style.dim(`  confidence ${oneLine(confidence)}`);
      line(`${INDENT}${style.green('◆')} decides ${oneLine(decision, VALUE_LENGTH)}${sure}`);
    },
    'agent.handoff': ({ style, nameOf, line }, { toAgentId, reason, context }) => {
      // Between nodes there is no message, and the next line shows the agent.
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
    // Only operators see this row. `cairn.error` or the end of the node reports a failure.
    'cairn.model.returned': silent,
    'cairn.error': ({ style, failure }, { code, message, scope, retryAfterMs }) => {
      const whose = scope === 'llm' ? 'the model failed: ' : '';
      const again = typeof retryAfterMs === 'number' ? style.dim(`  retry in ${Math.ceil(retryAfterMs / 1000)} s`) : '';
      failure(`${INDENT}${style.yellow('!')} ${whose}${oneLine(code)}: ${oneLine(message)}${again}`);
    },
    'cairn.model.abandoned': ({ style, node, line }) => {
      node.hasShownThoughts = false;
      line(`${INDENT}${style.yellow('↻')} the answer was cut off; retrying the model`);
    },
    'cap.breached': ({ style, line }, { kind, limit, observed }) =>
      line(`${INDENT}${style.yellow('!')} ${oneLine(kind)}: ${oneLine(observed)} (limit ${oneLine(limit)})`),
  }),
);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
