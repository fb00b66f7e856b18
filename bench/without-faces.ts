/**
 * Preloaded into a host process: replaces the writer of task faces and the writer of the context index with empty ones,
 * and nothing else, so that what they cost can be measured beside the same code.
 */
import { registerHooks } from 'node:module';

const emptied: readonly (readonly [file: string, source: string])[] = [
  ['/protocol/src/views/task-face.ts', 'export const taskFace = () => null;'],
  ['/log/sqlite/contexts/segments.ts', 'export class ContextSegments { note() {} clear() {} }'],
];

registerHooks({
  load(url, context, next) {
    const found = emptied.find(([file]) => url.endsWith(file));
    return found === undefined ? next(url, context) : { format: 'module', source: found[1], shortCircuit: true };
  },
});
