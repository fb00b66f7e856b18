/** The modes of a run's event stream. The event type alone decides which modes show an event. */
import { quoted, TerminalError } from '../errors.ts';

export const streamModes = ['updates', 'values', 'messages', 'debug'] as const;
export type StreamMode = (typeof streamModes)[number];

/** Maximum time in milliseconds that a stream may buffer events. */
export const MAX_BUFFER_MS = 5_000;

/** Types that are never in the log: they exist only on streams. */
export const streamTypes = { snapshot: 'state.snapshot', message: 'ai.message.chunk', batch: 'batch' } as const;

/** Transitions that `updates` shows, by their exact type and by their family. */
const updateTypes: ReadonlySet<string> = new Set([
  'run.started',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'run.paused',
  'run.resumed',
  'run.annotated',
  'workspace.updated',
  'node.completed',
  'node.failed',
  'node.skipped',
  'node.suspended',
  'node.dispatched',
  'approval.requested',
  'approval.received',
  'artifact.created',
]);
const updateFamilies = /^(?:clarification|interrupt|eval|deployment)\./;

/** Whether `updates` shows events of this type. */
export const isUpdate = (type: string): boolean => updateTypes.has(type) || updateFamilies.test(type);

/** Whether `values` shows the state of the run after an event of this type. */
export const isTransition = (type: string): boolean => type === 'node.started' || isUpdate(type);

/** The name under which a stream of these modes shows events of a type; null when it leaves them out. */
export function shownAs(modes: ReadonlySet<StreamMode>, type: string): string | null {
  // `messages` renames streamed text. One row is one frame, even if two modes show it.
  if (type === 'output.chunk' && modes.has('messages')) return streamTypes.message;
  return modes.has('debug') || (modes.has('updates') && isUpdate(type)) ? type : null;
}

/** Parses a `streamMode` parameter. The default is `updates`; a list shows the union; `values` cannot be combined. */
export function parseStreamModes(text: string | undefined): ReadonlySet<StreamMode> {
  if (text === undefined) return new Set(['updates']);
  const modes = new Set<StreamMode>();
  for (const name of text.split(',')) {
    const mode = streamModes.find((known) => known === name);
    if (mode === undefined) throw unsupported(`There is no stream mode ${quoted(name, 60)}.`);
    modes.add(mode);
  }
  if (modes.has('values') && modes.size > 1) {
    throw unsupported(`The stream mode values cannot be combined with others, as ${quoted(text, 60)} does.`);
  }
  return modes;
}

const unsupported = (message: string): TerminalError =>
  new TerminalError('unsupported_stream_mode', {
    message,
    hint: 'Ask for values alone, or for one or more of updates, messages and debug, separated by commas.',
    details: { supported: [...streamModes] },
  });
