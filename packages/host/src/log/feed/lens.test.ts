/** A lens decides which rows a subscriber sees, under which name and as what text. */
import { describe, expect, it } from 'vitest';
import { everything, type Lens, payloads, rendered } from './lens.ts';
import { plain } from './plain-row.kit.ts';
import { cursorOf, seqOf } from './range.ts';

describe('a lens', () => {
  const rows = ['a', 'hidden', 'b', 'hidden'].map((type, seq) => ({ ...plain, type, seq }));
  const nameOf = (type: string) => (type === 'hidden' ? null : type === 'a' ? 'renamed' : type);

  it('hides rows and renames them, in the frame and in the document', () => {
    const shown = rendered(rows, payloads('k', nameOf, 'frames'), seqOf);
    const frames = shown.text.split('\n\n').filter((frame) => frame !== '');
    expect(frames.map((frame) => frame.split('\n').slice(0, 2))).toEqual([
      ['id: 0', 'event: renamed'],
      ['id: 2', 'event: b'],
    ]);
    expect(JSON.parse(frames[0]?.split('\ndata: ')[1] ?? '')).toMatchObject({ type: 'renamed', sequence: 0 });
    expect(shown).toMatchObject({ upTo: 2, urgent: false });
  });

  it('gives documents that make a JSON list, each on one line', () => {
    const broken = rows.map((row) => ({ ...row, payload: '{\n"x":1}' }));
    const { text, upTo } = rendered(broken, payloads('k', nameOf, 'documents'), seqOf);
    expect(text).not.toContain('\n');
    expect(JSON.parse(`[${text}]`)).toMatchObject([{ type: 'renamed', payload: { x: 1 } }, { type: 'b' }]);
    expect(upTo).toBe(2);
  });

  it('says when something shown is waited for', () => {
    const urgent = (type: string) => rendered([{ ...plain, type }], everything, seqOf).urgent;
    expect(['node.suspended', 'run.failed', 'node.completed'].map(urgent)).toEqual([true, true, false]);
    expect(rendered([], everything, seqOf)).toEqual({ text: '', upTo: -1, urgent: false });
  });

  it('on task faces hides rows that have none, and counts in cursors over a context', () => {
    const tasks: Lens = {
      ...everything,
      key: 'tasks',
      face: 'task',
      render: ({ cursor, task }) => `${cursor} ${task};`,
    };
    const faces = [null, '{"kind":"task-status"}', null].map((task, i) => ({ ...plain, task, cursor: 40 + i }));
    expect(rendered(faces, tasks, cursorOf)).toEqual({ text: '41 {"kind":"task-status"};', upTo: 41, urgent: false });
  });
});
