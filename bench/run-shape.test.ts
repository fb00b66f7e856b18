/** The hollow server is only a fair limit when it makes the commits a real run cannot do without. */
import { describe, expect, it } from 'vitest';
import { runShape } from './run-shape.ts';

const shapeOf = (types: readonly string[], stream = '') => {
  const rows = types.map((type, seq) => [seq, 1, seq, type]);
  const listed = { schema: [], columns: [], row: [] };
  return runShape({ schema: [], columns: ['cursor', 'run', 'seq', 'type'], rows }, listed, stream);
};

describe('the shape of a run', () => {
  it('has one commit to create it and one per step: a request is durable before its effect begins', () => {
    const { commits } = shapeOf([
      'run.started',
      'cairn.step.requested',
      'cairn.step.returned',
      'cairn.step.requested',
      'cairn.step.returned',
      'run.completed',
    ]);
    expect(commits.map(({ from, to }) => [from, to])).toEqual([
      [0, 2],
      [2, 4],
      [4, 6],
    ]);
  });

  it('is one commit when the run only comes to rest', () => {
    const { commits } = shapeOf(['run.started', 'node.started', 'interrupt.requested', 'node.suspended']);
    expect(commits.map(({ from, to }) => [from, to])).toEqual([[0, 4]]);
  });

  it('gives each commit the frames of its own rows', () => {
    const frame = (seq: number) => `id: ${seq}\nevent: x\ndata: {}\n\n`;
    const types = ['run.started', 'cairn.step.requested', 'cairn.step.returned', 'run.completed'];
    const { commits } = shapeOf(types, `${frame(0)}${frame(3)}`);
    expect(commits.map(({ frames }) => frames)).toEqual([frame(0), frame(3)]);
  });
});
