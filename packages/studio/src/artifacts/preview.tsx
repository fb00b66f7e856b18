/**
 * The content of an artifact, shown without any right of this page: a text stays text, Markdown becomes React elements,
 * an image is an image. A page of HTML is shown as its source; nothing in it ever runs.
 */

import { createElement } from 'react';
import { Code } from '../parts/code.tsx';
import { ScrollFrame } from '../parts/scroll-frame.tsx';
import { Value } from '../run/marks.tsx';
import { Markdown } from '../text/markdown.tsx';
import '../run/run.css';
import './preview.css';

export type Content =
  | { readonly is: 'text'; readonly text: string; readonly mimeType: string | null }
  | { readonly is: 'data'; readonly data: unknown }
  | { readonly is: 'rows'; readonly rows: readonly Readonly<Record<string, unknown>>[] }
  | { readonly is: 'image'; readonly address: string; readonly name: string }
  | { readonly is: 'bytes' };

/** Types that a browser shows as an image, without a script in any of them. */
const images: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export const isImage = (mimeType: string | null): boolean => mimeType !== null && images.has(bare(mimeType));

/** Texts by their type. Anything else is offered as a download. */
export const isText = (mimeType: string | null): boolean =>
  mimeType === null || /^text\/|[/+](?:json|xml|yaml|javascript|x-ndjson|csv|sql)$|svg/.test(bare(mimeType));

const bare = (mimeType: string): string => mimeType.split(';')[0]?.trim().toLowerCase() ?? '';

export function Preview({ content }: { readonly content: Content }) {
  switch (content.is) {
    case 'text':
      return <Text text={content.text} mimeType={content.mimeType} />;
    case 'data':
      return <Value of={content.data} />;
    case 'rows':
      return <Rows rows={content.rows} />;
    case 'image':
      return <img className="preview-image" src={content.address} alt={content.name} />;
    case 'bytes':
      return <p className="second">This content cannot be shown here. Download it.</p>;
  }
}

function Text({ text, mimeType }: { readonly text: string; readonly mimeType: string | null }) {
  if (mimeType !== null && bare(mimeType) === 'text/markdown') return <Markdown text={text} />;
  return <Code className="preview-text" parts={[text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n…` : text]} />;
}

/** Longer texts are cut. The download has all of it. */
const MAX_TEXT = 400_000;
const MAX_ROWS = 200;

function Rows({ rows }: { readonly rows: readonly Readonly<Record<string, unknown>>[] }) {
  const columns = [...new Set(rows.slice(0, MAX_ROWS).flatMap((row) => Object.keys(row)))].slice(0, 40);
  const cells = (row: Readonly<Record<string, unknown>>) =>
    columns.map((column) => createElement('td', null, cellText(row[column])));
  return (
    <>
      <ScrollFrame className="preview-rows">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column}>{column}</th>
              ))}
            </tr>
          </thead>
          {createElement(
            'tbody',
            null,
            ...rows.slice(0, MAX_ROWS).map((row) => createElement('tr', null, ...cells(row))),
          )}
        </table>
      </ScrollFrame>
      <p className="label figure">
        {rows.length} rows{rows.length > MAX_ROWS && `, the first ${MAX_ROWS} are shown`}
      </p>
    </>
  );
}

const cellText = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
