/** `cairn tail`: prints the events of a run from any position, live until the run ends. */
import type { RunEventDoc } from '@cairn/protocol';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { pastEvents } from './past-events.ts';
import { AgentTranscript } from './render/agent-transcript.ts';
import { fieldsOf } from './render/fields.ts';
import { answerCommand, questionLines } from './render/question.ts';
import { lookOf } from './render/status.ts';
import { jsonLine, oneLine, type Style, safe, styleOf } from './render/style.ts';
import { cut } from './render/table.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { outputOf } from './terminal-output.ts';

export interface TailFlags extends HostFlags {
  readonly from?: number;
  readonly types?: readonly string[];
  /** False: print the recorded events and exit. */
  readonly follow?: boolean;
}

export function tail(terminal: Terminal, name: string, flags: TailFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const stop = new AbortController();
    terminal.onSignal(() => stop.abort());
    const wanted = typeFilter(flags.types ?? []);
    // With --types the reader wants the raw events.
    const transcript =
      flags.json === true || flags.types !== undefined ? null : new AgentTranscript(outputOf(terminal, 'out'));
    const after = (flags.from ?? 0) - 1;
    try {
      const runId = await runNamed(client, name);
      const run = await client.runs.get(runId, { signal: stop.signal });
      // An imported run gets no more events, so there is nothing to wait for.
      const isLive = flags.follow !== false && run.importedAt === undefined;
      const events = isLive ? client.follow(runId, { after, signal: stop.signal }) : pastEvents(client, run, after);
      for await (const event of events) {
        if (!wanted(event.type)) continue;
        if (flags.json === true) terminal.print(jsonLine(event));
        else if (transcript?.add(event) !== true) printRow(terminal, event, runId, transcript);
      }
      return exit.ok;
    } catch (error) {
      if (!stop.signal.aborted) throw error;
      return exit.interrupted;
    } finally {
      transcript?.flush();
    }
  });
}

/** Prints an event on one line, and below a question the command that answers it. */
function printRow(terminal: Terminal, event: RunEventDoc, runId: string, transcript: AgentTranscript | null): void {
  const style = styleOf(terminal.colours.out, terminal.env);
  const lines = [eventLine(event, style, terminal.columns)];
  if (transcript !== null && event.type === 'interrupt.requested') {
    const { kind, data, interruptId } = fieldsOf(event.payload);
    const nodeId = event.nodeId ?? '';
    const question = { kind: String(kind), nodeId, interruptId: String(interruptId), data: fieldsOf(data) };
    lines.push(...questionLines(question, style).map((line) => `      ${line}`));
    lines.push(`          answer with: ${answerCommand(style, runId, question)}`);
  }
  for (const line of lines) {
    if (transcript === null) terminal.print(line);
    else transcript.addLine(event.nodeId ?? '', line);
  }
}

/** `node.started` matches that type; `node` and `node.*` match all types with that prefix. No pattern matches every type. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.length === 0) return () => true;
  const prefixes = patterns.map((pattern) => pattern.replace(/\.?\*$/, ''));
  return (type) => prefixes.some((prefix) => type === prefix || type.startsWith(prefix === '' ? '' : `${prefix}.`));
}

const endings: Readonly<Record<string, string>> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  suspended: 'suspended',
  requested: 'suspended',
  paused: 'paused',
  retried: 'retrying',
};

function eventLine(event: RunEventDoc, style: Style, columns: number | null): string {
  const { paint } = lookOf(endings[event.type.split('.').at(-1) ?? ''] ?? '', style);
  const isPlain = endings[event.type.split('.').at(-1) ?? ''] === undefined;
  const time = event.timestamp.slice(11, 23);
  const type = safe(event.type).padEnd(22);
  const node = event.nodeId === undefined ? '' : `${safe(event.nodeId)}  `;
  const { nodeId: _, runId: __, ...rest } = fieldsOf(event.payload);
  const payload = Object.keys(rest).length === 0 ? '' : style.dim(oneLine(rest));
  const line = `${String(event.sequence).padStart(4)}  ${style.dim(time)}  ${isPlain ? type : paint(type)}  ${node}${payload}`;
  // An error is never cut. The terminal wraps it.
  const isError = event.type.endsWith('.failed') || event.type === 'node.retried' || event.type === 'cairn.error';
  return columns === null || isError ? line.trimEnd() : cut(line.trimEnd(), columns);
}
