/** Formats the difference of two runs as a page: where they part, what each did, what they hold and used. */
import { type DiffEntry, diffSections, isJsonObject, type JsonObject, type RunDiff } from '@cairn/protocol';
import { artifactLines } from './artifact-diff.ts';
import { changeLines, type DiffPlace, markOf } from './change-lines.ts';
import { lookOf } from './status.ts';
import { oneLine, safe } from './style.ts';
import { table, wrap } from './table.ts';
import { span } from './time.ts';

type CairnDiff = RunDiff['stateDiff']['cairn'];

const titles = {
  decisions: 'decisions',
  toolCalls: 'tool calls',
  modelTurns: 'model turns',
  answers: 'answers',
  texts: 'texts',
  children: 'child runs',
} as const;

const states = ['variables', 'channels', 'inputs', 'outputs', 'error'] as const;

/** By meaning: the events of a branch that did the same have other sequences. */
export const isEqual = ({ stateDiff: { cairn, ...state } }: RunDiff): boolean =>
  cairn.firstDivergence === null &&
  diffSections.every((name) => cairn[name].changed === 0) &&
  cairn.artifacts.changed === 0 &&
  Object.keys(state).length === 0;

export function diffPage(diff: RunDiff, place: DiffPlace): readonly string[] {
  const { style } = place;
  const { cairn } = diff.stateDiff;
  const lines = [...headLines(diff, place), '', ...divergenceLines(diff, place)];
  for (const name of diffSections) {
    const { entries, changed, same } = cairn[name];
    if (changed + same === 0) continue;
    lines.push('', `${style.bold(titles[name])}  ${style.dim(`${changed} differ, ${same} are the same`)}`);
    for (const entry of entries) lines.push(...entryLines(entry, place));
  }
  lines.push(...artifactLines(cairn.artifacts, place));
  for (const name of states) {
    const changes = diff.stateDiff[name] ?? [];
    if (changes.length > 0)
      lines.push('', style.bold(name), ...changes.flatMap((one) => changeLines(one, place, '  ')));
  }
  lines.push('', style.bold('totals'), ...totalLines(cairn, place));
  if (cairn.leftOut.length > 0) {
    const rest = cairn.leftOut.map(({ what, count }) => `${count} ${safe(what)}`).join(', ');
    lines.push('', style.dim(`not shown: ${rest}; --limit shows up to 200 entries of each list`));
  }
  if (diff.truncated === true) lines.push('', style.yellow('A run is still active, so this is the difference so far.'));
  return lines;
}

function headLines({ a, b, stateDiff: { cairn } }: RunDiff, { style, columns }: DiffPlace): readonly string[] {
  const { status } = cairn.totals;
  const row = (name: string, runId: string, shown: string) => {
    const { mark, paint } = lookOf(shown, style);
    return [`${mark} ${style.bold(name)}`, safe(runId), paint(shown)];
  };
  return table([row('a', a, status.a), row('b', b, status.b)], { style, columns, wraps: true });
}

function divergenceLines({ stateDiff: { cairn } }: RunDiff, place: DiffPlace): readonly string[] {
  const { style, columns } = place;
  const { firstDivergence: first, sharedUpTo, branches } = cairn;
  const shared = sharedUpTo < 0 ? [] : wrap(style.dim(`the first ${sharedUpTo + 1} events are shared`), columns);
  const branched = Object.entries(branches ?? {}).flatMap(([name, branch]) => branchLines(name, branch));
  const notes = [...shared, ...branched.flatMap((line) => wrap(style.dim(line), columns))];
  if (first === null) return [...notes, style.green('The runs did the same.')];
  const at = (name: string, event: typeof first.a) =>
    event === null
      ? `${name} has ended`
      : `${name} at event ${event.seq}: ${oneLine(event.type)}${event.nodeId !== undefined ? ` of ${safe(event.nodeId)}` : ''}`;
  return [
    ...notes,
    style.bold('first divergence'),
    ...[at('a', first.a), at('b', first.b)].flatMap((line) => wrap(line, columns, '  ')),
    ...first.changes.flatMap((change) => changeLines(change, place, '    ')),
  ];
}

/** Where a branch was cut, and each of its changes and rules. */
function branchLines(name: string, { sourceRunId, fromSeq, overlay, rules }: Readonly<JsonObject>): readonly string[] {
  const changes = Object.entries(isJsonObject(overlay) ? overlay : {}).flatMap(([kind, value]) =>
    isJsonObject(value)
      ? Object.entries(value).map(([key, item]) => `  ${kind}.${safe(key)}: ${oneLine(item)}`)
      : [`  ${kind}: ${oneLine(value)}`],
  );
  const ruled = (Array.isArray(rules) ? rules : []).map((rule) =>
    isJsonObject(rule) ? `${rule.calls}=${rule.use}` : '',
  );
  return [
    `${name} branches off ${oneLine(sourceRunId ?? '')} at event ${oneLine(fromSeq ?? '')}`,
    ...changes,
    ...ruled.map((rule) => `  rule: ${oneLine(rule)}`),
  ];
}

function entryLines(entry: DiffEntry, place: DiffPlace): readonly string[] {
  const { style, columns } = place;
  const where = [
    entry.a === undefined ? '' : sideText('a', entry.a),
    entry.b === undefined ? '' : sideText('b', entry.b),
  ];
  const head = `${markOf(entry.op, style)} ${safe(entry.key)}  ${style.dim(where.filter((text) => text !== '').join(', '))}`;
  return [...wrap(head, columns, '  '), ...entry.changes.flatMap((change) => changeLines(change, place, '      '))];
}

function sideText(name: string, { seq, reused, runId }: NonNullable<DiffEntry['a']>): string {
  return `${name} at event ${seq}${reused === true ? ' (reused)' : ''}${runId === undefined ? '' : ` ${safe(runId)}`}`;
}

function totalLines({ totals }: CairnDiff, { style, columns }: DiffPlace): readonly string[] {
  const number = (value: number) => value.toLocaleString('en-US');
  const money = (value: number) => `$${value.toFixed(value >= 1 ? 2 : 4)}`;
  const row = (name: string, { a, b }: { readonly a: number; readonly b: number }, shown = number) => {
    const change = a === b ? '' : `${b > a ? '+' : '-'}${shown(Math.abs(b - a))}`;
    return [style.dim(name), shown(a), shown(b), change];
  };
  const rows = [
    row('events', totals.events),
    row('time', totals.durationMs, span),
    row('model calls', totals.modelCalls),
    row('tool calls', totals.toolCalls),
    row('tokens in', totals.inputTokens),
    row('tokens out', totals.outputTokens),
    row('cost', totals.costUsd, money),
  ];
  return table(rows, { header: ['', 'A', 'B', 'CHANGE'], style, columns, indent: '  ' });
}
