/** Draws a picture of boxes and arrows as SVG, in the colours of DESIGN.md, readable on light and on dark. */

type Kind = 'plain' | 'accent' | 'working' | 'waiting' | 'done' | 'failed' | 'group';

export interface Box {
  readonly at: readonly [x: number, y: number, width: number, height: number];
  /** Lines of text. The first is the name. A group has it in its corner. */
  readonly text: readonly string[];
  readonly kind?: Kind;
}

export interface Arrow {
  /** Corners of the line, from its start to its tip. */
  readonly path: readonly (readonly [x: number, y: number])[];
  readonly text?: string;
  /** Where the text is, if not above the middle of the first part. */
  readonly textAt?: readonly [x: number, y: number];
  readonly dashed?: boolean;
}

export interface Picture {
  readonly name: string;
  /** What the picture says, for those who do not see it. */
  readonly title: string;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  /** Loose words. */
  readonly notes?: readonly { readonly at: readonly [x: number, y: number]; readonly text: string }[];
}

const WIDTH = 720;

const light = {
  ground: '#ffffff',
  ink: '#16181d',
  second: '#454b58',
  line: '#c9ced8',
  plain: '#f6f7f9',
  accent: '#e9ebfd',
  accentLine: '#4150d8',
  working: '#e2eefb',
  workingLine: '#0a5fbd',
  waiting: '#fcefd7',
  waitingLine: '#855000',
  done: '#e3f1ec',
  doneLine: '#2a6855',
  failed: '#fce7e0',
  failedLine: '#ae2f0a',
};

const dark: typeof light = {
  ground: '#15181e',
  ink: '#e8eaf0',
  second: '#b0b6c4',
  line: '#3a414e',
  plain: '#1d2129',
  accent: '#23284a',
  accentLine: '#96a1ff',
  working: '#14283f',
  workingLine: '#6cb0ff',
  waiting: '#35280f',
  waitingLine: '#f0b24e',
  done: '#162d27',
  doneLine: '#7fc4ae',
  failed: '#3d1a10',
  failedLine: '#ff8d69',
};

const rulesOf = (c: typeof light): string =>
  [
    `.ground{fill:${c.ground}}`,
    `text{fill:${c.ink}}`,
    `.second{fill:${c.second}}`,
    `.plain{fill:${c.plain};stroke:${c.line}}`,
    `.group{fill:none;stroke:${c.line};stroke-dasharray:4 4}`,
    ...(['accent', 'working', 'waiting', 'done', 'failed'] as const).map(
      (kind) => `.${kind}{fill:${c[kind]};stroke:${c[`${kind}Line`]}}`,
    ),
    `.arrow{stroke:${c.second};fill:none}`,
    `.tip{fill:${c.second}}`,
    `.halo{stroke:${c.ground}}`,
  ].join('');

const style = `text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}.name{font-weight:600}.small{font-size:12px}.halo{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}${rulesOf(light)}@media(prefers-color-scheme:dark){${rulesOf(dark)}}`;

export function drawn({ title, height, boxes, arrows, notes = [] }: Picture): string {
  const parts = [
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    ...boxes.filter(({ kind }) => kind === 'group').map(boxOf),
    ...arrows.map(lineOf),
    ...boxes.filter(({ kind }) => kind !== 'group').map(boxOf),
    ...arrows.map(labelOf),
    ...notes.map(({ at: [x, y], text }) => `<text class="second small" x="${x}" y="${y}">${escaped(text)}</text>`),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${style}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8Z"/></marker></defs>
${parts.filter((part) => part !== '').join('\n')}
</svg>
`;
}

const LINE = 18;

function boxOf({ at: [x, y, width, height], text, kind = 'plain' }: Box): string {
  const rect = `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
  if (kind === 'group') {
    const [name = ''] = text;
    return `${rect}<text class="second small" x="${x + 12}" y="${y + 20}">${escaped(name)}</text>`;
  }
  const first = y + height / 2 - ((text.length - 1) * LINE) / 2 + 4.5;
  const lines = text.map((line, at) => {
    const look = at === 0 ? 'name' : 'second small';
    return `<text class="${look}" x="${x + width / 2}" y="${first + at * LINE}" text-anchor="middle">${escaped(line)}</text>`;
  });
  return rect + lines.join('');
}

function lineOf({ path, dashed = false }: Arrow): string {
  const points = path.map(([x, y]) => `${x} ${y}`).join(' ');
  const dash = dashed ? ' stroke-dasharray="4 4"' : '';
  return `<path class="arrow" stroke-width="1.5" d="M${points}"${dash} marker-end="url(#tip)"/>`;
}

function labelOf({ path, text, textAt }: Arrow): string {
  if (text === undefined) return '';
  const [[x1, y1] = [0, 0], [x2, y2] = [0, 0]] = path;
  const [x, y] = textAt ?? [(x1 + x2) / 2, (y1 + y2) / 2 - 8];
  return `<text class="second small halo" x="${x}" y="${y}" text-anchor="middle">${escaped(text)}</text>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
