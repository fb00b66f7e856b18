/** Formats what differs in the artifacts of two runs: their versions as a table, their content as hunks. */
import type { ArtifactDiff, RunDiff } from '@cairn/protocol';
import { changeLines, type DiffPlace, diffLine, markOf } from './change-lines.ts';
import { safe } from './style.ts';
import { table, wrap } from './table.ts';

type Section = RunDiff['stateDiff']['cairn']['artifacts'];

const INDENT = '      ';

export function artifactLines({ entries, changed, same }: Section, place: DiffPlace): readonly string[] {
  if (changed + same === 0) return [];
  const { style } = place;
  const head = `${style.bold('artifacts')}  ${style.dim(`${changed} differ, ${same} are the same`)}`;
  return ['', head, ...entries.flatMap((entry) => entryLines(entry, place))];
}

function entryLines(entry: ArtifactDiff, place: DiffPlace): readonly string[] {
  const { style, columns } = place;
  const { op, key, a, b, changes, content } = entry;
  const sides = [...(a === undefined ? [] : [rowOf('a', a)]), ...(b === undefined ? [] : [rowOf('b', b)])];
  const header = ['', 'VERSION', 'SIZE', 'TYPE', 'SHA256'];
  return [
    ...wrap(`${markOf(op, style)} ${safe(key)}`, columns, '  '),
    ...table(sides, { header, style, columns, indent: INDENT }),
    ...changes.flatMap((change) => changeLines(change, place, INDENT)),
    ...contentLines(content, place),
  ];
}

const units = { file: 'bytes', data: 'characters', dataset: 'rows' } as const;

function rowOf(name: string, side: NonNullable<ArtifactDiff['a']>): readonly string[] {
  const { version, family, size, mimeType, sha256 } = side;
  const type = family === 'file' ? (mimeType ?? family) : family;
  return [
    name,
    String(version),
    `${size.toLocaleString('en-US')} ${units[family]}`,
    safe(type),
    safe(sha256 ?? '').slice(0, 12),
  ];
}

function contentLines(content: ArtifactDiff['content'], { style, columns }: DiffPlace): readonly string[] {
  const note = noteOf(content);
  const notes = note === null ? [] : wrap(style.dim(note), columns, INDENT);
  const hunks = (content.hunks ?? []).flatMap(({ a, b, lines }) => [
    ...wrap(style.cyan(`@@ -${a.start},${a.lines} +${b.start},${b.lines} @@`), columns, INDENT),
    ...lines.flatMap(({ op, text, noNewline }) => [
      ...wrap(diffLine(op, text, style), columns, INDENT),
      ...(noNewline === true ? wrap(style.dim('\\ no line break at the end'), columns, INDENT) : []),
    ]),
  ]);
  return [...hunks, ...notes];
}

function noteOf({ compared, limit = 0, leftOut = 0 }: ArtifactDiff['content']): string | null {
  const most = limit.toLocaleString('en-US');
  switch (compared) {
    case 'lines':
      return leftOut === 0 ? null : `${leftOut.toLocaleString('en-US')} more lines; read both versions for all of them`;
    case 'same':
      return 'the content is the same';
    case 'binary':
      return 'binary content: compared by its hash';
    case 'too_large':
      return `too large for a comparison by lines (limit ${most}): compared by its hash`;
    case 'too_different':
      return `more than ${most} lines differ: compared by its hash`;
    case 'left_out':
      return `the diff compares content of ${most} bytes together: this one is compared by its hash`;
    default:
      return 'the log holds no content of it';
  }
}
