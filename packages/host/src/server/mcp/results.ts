/** Results of tool calls: what a run has become, in the words of MCP. */
import type { RunView } from '@cairn/protocol';
import { foldedTask } from '../../bridges/a2a/fold-task.ts';
import { contentBlocks } from './content-blocks.ts';
import type { RunWatch } from './run-watch.ts';

/** Longest text of a result. A longer one is read as a resource. */
const MAX_TEXT = 1_048_576;

export const runUri = (runId: string): string => `cairn://runs/${runId}`;

/** `_meta` of a result: which event of which run on which host it comes from. */
export function originOf({ runId, task }: RunWatch, hostId: string) {
  const { openwop } = foldedTask(task.fold)?.metadata ?? {};
  const eventId = typeof openwop === 'object' && openwop !== null && 'eventId' in openwop ? openwop.eventId : undefined;
  return { runId, hostId, ...(typeof eventId === 'string' && { eventId }) };
}

export type Origin = ReturnType<typeof originOf>;

const errorResult = (text: string, origin: Origin, code: string) => ({
  content: [{ type: 'text', text }],
  isError: true,
  _meta: { ...origin, code },
});

export type EndedRun = Pick<RunView, 'runId' | 'status' | 'outputs' | 'error'>;

/** The result of a run that has ended. */
export function endResult({ status, outputs, error, runId }: EndedRun, origin: Origin): object {
  if (status === 'cancelled')
    return errorResult(`tool_canceled: the run ${runId} was cancelled.`, origin, 'tool_canceled');
  if (status !== 'completed') {
    return errorResult(error?.message ?? `The run ${runId} failed.`, origin, String(error?.code ?? 'failed'));
  }
  const given = outputs ?? {};
  const text = JSON.stringify(given);
  if (text.length > MAX_TEXT) {
    const about = `The result has ${text.length} characters. Read the resource ${runUri(runId)}.`;
    return { content: [{ type: 'text', text: about }], isError: false, _meta: origin };
  }
  const said = typeof given.content === 'string' ? given.content : text;
  const content = contentBlocks(given.content) ?? [{ type: 'text', text: said }];
  return { content, structuredContent: given, isError: false, _meta: origin };
}

/** The result of a run that goes on without its client: it waits for another person, or the host stops. */
export function openResult({ task, runId }: RunWatch, origin: Origin): object {
  const asked = task.asked.map(({ prompt, form }) =>
    typeof form.authUrl === 'string' ? `${prompt} ${form.authUrl}` : prompt,
  );
  const [state, then] =
    asked.length === 0
      ? ['is still at work', 'Read it later']
      : ['waits for an answer that this call cannot give', 'Answer in the inbox of the host, then read it'];
  const text = [`The run ${runId} ${state}. ${then}: ${runUri(runId)}.`, ...asked.slice(0, 16)].join('\n');
  return errorResult(text, origin, asked.length === 0 ? 'still_running' : 'waiting');
}

/** Arguments that do not fit. The model of the client may correct them. */
export const refusedArguments = (problems: readonly string[]): object => ({
  content: [{ type: 'text', text: `The arguments do not fit the tool: ${problems.slice(0, 20).join('; ')}.` }],
  isError: true,
});
