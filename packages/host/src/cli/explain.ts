/** `cairn explain`: prints the page of an error code, without a host. */
import { TerminalError } from '@cairn/protocol';
import { nearest } from '../nearest.ts';
import { errorCodes, errorPage } from './error-page.ts';
import { exit } from './exit.ts';
import { jsonLine, type Style, safe, styleOf } from './render/style.ts';
import { table, wrap } from './render/table.ts';
import type { Terminal } from './terminal.ts';

export interface ExplainFlags {
  readonly json?: boolean;
}

export function explain(terminal: Terminal, code: string | undefined, flags: ExplainFlags): number {
  if (code === undefined) return list(terminal, flags);
  if (!errorCodes.includes(code)) throw unknownCode(code);
  const page = errorPage(code);
  if (flags.json === true) terminal.print(jsonLine({ code, page }));
  else for (const line of pageLines(page, styleOf(terminal.colours.out), terminal.columns)) terminal.print(line);
  return exit.ok;
}

function list(terminal: Terminal, flags: ExplainFlags): number {
  const codes = errorCodes.map((code) => ({ code, summary: summaryOf(errorPage(code)) }));
  if (flags.json === true) terminal.print(jsonLine({ codes }));
  else {
    const style = styleOf(terminal.colours.out);
    const rows = codes.map(({ code, summary }) => [code, plain(summary)]);
    const header = ['CODE', 'WHAT HAPPENED'];
    for (const line of table(rows, { header, style, columns: terminal.columns })) terminal.print(line);
  }
  return exit.ok;
}

function unknownCode(code: string): TerminalError {
  const close = nearest(code, errorCodes);
  return new TerminalError('not_found', {
    message: `There is no error code ${JSON.stringify(code)}.`,
    hint:
      close === null ? '"cairn explain" lists all codes.' : `Did you mean ${close}? "cairn explain" lists all codes.`,
  });
}

/** The first sentence of the page. */
const summaryOf = (page: string): string => /\*\*What happened\.\*\* (.*?\.)(?:\s|$)/.exec(page)?.[1] ?? '';

/** Links become their text, and marks of code and emphasis go. */
const plain = (text: string): string => safe(text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\*\*|`/g, ''));

function pageLines(page: string, style: Style, columns: number | null): readonly string[] {
  let isCode = false;
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('```')) {
      isCode = !isCode;
      return [];
    }
    if (isCode) return [`    ${safe(line)}`];
    if (line.startsWith('# ')) return [style.bold(plain(line.slice(2)))];
    const lead = /^\*\*(.+?)\*\* (.*)$/.exec(line);
    if (lead === null) return wrap(plain(line), columns);
    return wrap(`${style.bold(plain(lead[1] ?? ''))} ${plain(lead[2] ?? '')}`, columns);
  });
}
