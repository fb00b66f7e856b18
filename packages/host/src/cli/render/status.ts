/** The mark and the colour of each status, for runs and nodes. */
import { type Paint, type Style, safe } from './style.ts';

const looks: Readonly<Record<string, readonly [mark: string, colour: Exclude<keyof Style, 'cairn'>]>> = {
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

/** The coloured mark of a status, and its colour for the text next to it. The status comes from a host, so it is escaped. */
export function lookOf(status: string, style: Style): { readonly mark: string; readonly paint: Paint } {
  const [mark, colour] = (Object.hasOwn(looks, status) ? looks[status] : undefined) ?? ['·', 'dim'];
  const paint = style[colour];
  return { mark: paint(mark), paint: (word) => paint(safe(word)) };
}
