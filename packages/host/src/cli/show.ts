/** `cairn show`: shows the state of a run, now or after one of its events. */
import type { Client } from '@cairn/client';
import { isCairnError, type RunSnapshot, TerminalError } from '@cairn/protocol';
import { childLines } from './child-lines.ts';
import { exit } from './exit.ts';
import { type HostFlags, withHost } from './find-host.ts';
import { openQuestions } from './open-questions.ts';
import { pastEvents } from './past-events.ts';
import { AgentTranscript } from './render/agent-transcript.ts';
import { usageText } from './render/agent-usage.ts';
import type { Question } from './render/question.ts';
import { runPage } from './render/run-page.ts';
import { jsonLine, styleOf } from './render/style.ts';
import { runNamed } from './run-name.ts';
import type { Terminal } from './terminal.ts';
import { outputOf } from './terminal-output.ts';

export interface ShowFlags extends HostFlags {
  readonly at?: number;
}

export function show(terminal: Terminal, name: string, flags: ShowFlags): Promise<number> {
  return withHost(terminal, flags, async (client) => {
    const { at } = flags;
    const now = await client.runs.get(await runNamed(client, name));
    const shown =
      at === undefined
        ? { run: now, questions: await openQuestions(client, now), instant: terminal.now() }
        : await asOf(client, now, at);
    if (flags.json === true) terminal.print(jsonLine(shown.run));
    else {
      const style = styleOf(terminal.colours.out, terminal.env);
      const { run, questions, instant } = shown;
      const children = await childLines(client, run, { style, isNow: at === undefined });
      const place = { style, columns: terminal.columns, now: terminal.now(), instant, at: at ?? null };
      const options = { ...place, questions, children };
      for (const line of runPage(run, options)) terminal.print(line);
      if (now.agent !== undefined) await printAgents(terminal, client, now, at ?? null);
    }
    return exit.ok;
  });
}

/** Prints what the agents of a run did and used, up to an event if one is given. */
async function printAgents(terminal: Terminal, client: Client, run: RunSnapshot, at: number | null): Promise<void> {
  const { dim } = styleOf(terminal.colours.out);
  const transcript = new AgentTranscript(outputOf(terminal, 'out'));
  terminal.print(`\n${dim('agents')}`);
  for await (const event of pastEvents(client, run)) {
    if (at !== null && event.sequence > at) break;
    transcript.add(event);
  }
  transcript.flush();
  const used = usageText(transcript.usage);
  if (used !== '') terminal.print(`  ${dim(used)}`);
}

interface Shown {
  readonly run: RunSnapshot;
  readonly questions: readonly Question[];
  /** The time of the shown state. */
  readonly instant: number;
}

/** The run as it was after an event, from the host. */
async function asOf(client: Client, now: RunSnapshot, atSeq: number): Promise<Shown> {
  try {
    const [run, open] = await Promise.all([
      client.runs.get(now.runId, { atSeq }),
      client.interrupts.ofRun(now.runId, { atSeq }),
    ]);
    const questions = open.map(({ kind, nodeId, interruptId, data }) => ({ kind, nodeId, interruptId, data }));
    return { run, questions, instant: Date.parse(run.asOf ?? '') };
  } catch (error) {
    const last = isCairnError(error, 'validation_error') ? error.details?.lastSequence : undefined;
    if (last === undefined) throw error;
    throw new TerminalError('not_found', {
      message: `Run ${now.runId} has no event ${atSeq} yet; the last one is ${last}.`,
      hint: `Choose an event from 0 to ${last}. "cairn tail ${now.runId}" lists them.`,
    });
  }
}
