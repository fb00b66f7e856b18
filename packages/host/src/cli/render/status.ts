/** One mark and one colour for each status, of runs and of nodes alike. */
import { type Paint, type Style, safe } from './style.ts';

const looks: Readonly<Record<string, readonly [mark: string, colour: keyof Style]>> = {
  pending: ['·', 'dim'],
  running: ['●', 'cyan'],
  retrying: ['↻', 'yellow'],
  paused: ['‖', 'yellow'],
  suspended: ['?', 'yellow'],
  'waiting-approval': ['?', 'yellow'],
  'waiting-input': ['?', 'yellow'],
  'waiting-external': ['?', 'yellow'],
  completed: ['✓', 'green'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
  cancelling: ['⊘', 'yellow'],
  cancelled: ['⊘', 'dim'],
};

/** The mark of a status in its colour; and the colour, for the word beside it, which a host said. */
export function lookOf(status: string, style: Style): { readonly mark: string; readonly paint: Paint } {
  const [mark, colour] = (Object.hasOwn(looks, status) ? looks[status] : undefined) ?? ['·', 'dim'];
  const paint = style[colour];
  return { mark: paint(mark), paint: (word) => paint(safe(word)) };
}
