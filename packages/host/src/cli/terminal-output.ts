/** Makes stdout or stderr of a terminal the output of a transcript. */
import type { TranscriptOutput } from './render/agent-transcript.ts';
import { styleOf } from './render/style.ts';
import type { Terminal } from './terminal.ts';

export const outputOf = (terminal: Terminal, stream: 'out' | 'err'): TranscriptOutput => ({
  style: styleOf(terminal.colours[stream]),
  columns: terminal.columns,
  line: (text) => (stream === 'out' ? terminal.print(text) : terminal.tell(text)),
  part: (text) => terminal.part(stream, text),
});
