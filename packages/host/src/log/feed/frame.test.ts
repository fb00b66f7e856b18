/** A frame says what the event document of the protocol says, whatever the columns and bodies hold. */
import type { EventId } from '@cairn/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { docText, sseFrame } from './frame.ts';
import { everything, rendered } from './lens.ts';
import { plain } from './plain-row.kit.ts';
import { seqOf } from './range.ts';

describe('an event document', () => {
  it('has the fields of the wire, with full ids and an ISO timestamp', () => {
    expect(JSON.parse(docText(plain))).toEqual({
      eventId: 'run_1:7',
      runId: 'run_1',
      type: 'node.started',
      payload: { nodeId: 'n1' },
      timestamp: '2026-11-15T12:30:01.005Z',
      sequence: 7,
      nodeId: 'n1',
      causationId: 'run_1:6',
    });
  });

  it('leaves out what an event does not have and keeps the id of a cause elsewhere', () => {
    const bare = JSON.parse(docText({ ...plain, nodeId: null, cause: null }));
    expect('nodeId' in bare || 'causationId' in bare).toBe(false);
    expect(JSON.parse(docText({ ...plain, cause: 'run_2:0' as EventId })).causationId).toBe('run_2:0');
    expect(JSON.parse(docText({ ...plain, cause: 0 })).causationId).toBe('run_1:0');
  });

  it('carries any node id and any payload unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.json(), (nodeId, payload) => {
        const doc = JSON.parse(docText({ ...plain, nodeId, payload }));
        expect(doc.nodeId).toBe(nodeId);
        expect(doc.payload).toEqual(JSON.parse(payload));
      }),
    );
  });
});

describe('a frame', () => {
  it('has the sequence as id, the type as event and the document as data', () => {
    expect(sseFrame(plain)).toBe(`id: 7\nevent: node.started\ndata: ${docText(plain)}\n\n`);
  });

  it('keeps a payload that was written over several lines on one', () => {
    const frame = sseFrame({ ...plain, payload: '{\r\n  "a": "x\\n"\n}' });
    expect(frame.trimEnd().split(/\r|\n/).length).toBe(3);
    expect(JSON.parse(frame.split('data: ')[1] ?? '').payload).toEqual({ a: 'x\n' });
  });

  it('is the same alone and among many, at any time', () => {
    const times = fc.array(fc.integer({ min: 0, max: 8_640_000_000_000_000 }), { maxLength: 5 });
    const nearby = fc.array(fc.integer({ min: 1_699_999_998_000, max: 1_700_000_002_000 }), { maxLength: 5 });
    fc.assert(
      fc.property(times, nearby, (far, near) => {
        const rows = [...far, ...near].map((at, seq) => ({ ...plain, at, seq }));
        expect(rendered(rows, everything, seqOf).text).toBe(rows.map((row) => sseFrame(row)).join(''));
      }),
    );
  });
});
