/** Agent memory fixtures: what a host stores, for whom, for how long, and what it never stores. */
import type { Json, JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import { type RunView, TEST_SECRET } from './wire-host.ts';

const variableOf = ({ snapshot }: RunView, name: string): Json | undefined => fields(snapshot.variables)[name];

const written = (view: RunView): readonly JsonObject[] => view.payloads('memory.written');

/** Runs the workflow twice: memory from an earlier run must not interfere. */
const twice = (name: string, workflowId: string, check: (view: RunView) => Json | undefined): Scenario => ({
  name,
  async run(host) {
    for (let time = 0; time < 2; time += 1) {
      const view = await (await host.start(workflowId)).ended();
      expect(view.status).toBe('completed');
      const entry = check(view);
      host.checkMemoryEntry(entry);
      expect(written(view)).toHaveLength(1);
      expect(written(view)[0]).toMatchObject({ memoryId: fields(entry).id });
      expect(JSON.stringify(written(view))).not.toContain(fields(entry).content);
    }
  },
});

export const memoryScenarios: Scenarios = {
  'conformance-agent-memory-roundtrip': [
    twice('reads back what it wrote, and tells of the write by id', 'conformance-agent-memory-roundtrip', (view) => {
      expect(written(view)[0]).toMatchObject({
        memoryRef: 'conformance/agent-memory-roundtrip',
        nodeId: 'memory-roundtrip',
        agentId: 'core.conformance.memory-agent',
      });
      return variableOf(view, 'memoryReadback');
    }),
  ],
  'conformance-agent-memory-ttl': [
    twice('lists the entry that lasts and not the one that is over', 'conformance-agent-memory-ttl', (view) => {
      const listed = objects(variableOf(view, 'memoryList'));
      expect(listed).toHaveLength(1);
      expect(Date.parse(String(listed[0]?.expiresAt))).toBeGreaterThan(Date.now());
      return listed[0];
    }),
  ],
  'conformance-agent-memory-redaction': [
    twice('keeps the mark of a secret and never its value', 'conformance-agent-memory-redaction', (view) => {
      const entry = fields(variableOf(view, 'memoryReadback'));
      expect(entry.content).toContain(`[REDACTED:${TEST_SECRET.id}]`);
      expect(JSON.stringify([view.snapshot, view.events])).not.toContain(TEST_SECRET.value);
      return entry;
    }),
  ],
  'conformance-agent-memory-cross-tenant': [
    {
      name: 'finds nothing under a reference of another tenant',
      async run(host) {
        const view = await (await host.start('conformance-agent-memory-cross-tenant')).ended();
        expect(view.status).toBe('completed');
        expect(variableOf(view, 'crossTenantProbe')).toEqual([]);
        expect(written(view)).toEqual([]);
      },
    },
  ],
};
