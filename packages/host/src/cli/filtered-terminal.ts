/**
 * The print boundary: everything that a command prints passes this filter. Renderers escape data themselves; this makes
 * sure that a forgotten one cannot let a host, a log or a file steer the terminal.
 */
import { escapeText } from '../escape-text.ts';
import { ownColour } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export function filtered(terminal: Terminal): Terminal {
  const { out, err } = terminal.colours;
  return {
    ...terminal,
    print: (line) => terminal.print(printable(line, out)),
    tell: (line) => terminal.tell(printable(line, err)),
    part: (stream, text) => terminal.part(stream, printable(text, terminal.colours[stream])),
    redraw: (line) => terminal.redraw(printable(line, err)),
    ask: (question, signal) => terminal.ask(printable(question, err), signal),
  };
}

/** Keeps line breaks, tabs and, where colours are on, the colours of `render/style.ts`. Escapes the rest. */
function printable(text: string, isColoured: boolean): string {
  const clean = (part: string): string => escapeText(part, (one) => (one === '\n' || one === '\t' ? one : null));
  if (!isColoured) return clean(text);
  // A split with a group gives text and colours in turns.
  return text
    .split(ownColour)
    .map((part, i) => (i % 2 === 1 ? part : clean(part)))
    .join('');
}
