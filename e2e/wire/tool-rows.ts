/** Section 2.18: the tool catalogue. */
import type { WireRow } from './wire-row.ts';

export const toolRows: readonly WireRow[] = [
  {
    at: '2.18, 2.5 row 22',
    says: 'the catalogue needs a key',
    ask: { to: 'GET /v1/tools', as: 'nobody' },
    answer: { status: 401, error: 'unauthenticated' },
  },
  {
    at: '2.18, 2.3',
    says: 'the catalogue needs the scope to read what there is',
    ask: { to: 'GET /v1/tools', as: 'reader' },
    answer: { status: 403, error: 'forbidden', details: { scopeRequired: 'manifest:read' } },
  },
  {
    at: '2.18, 11.2 row 17',
    says: 'the catalogue is an object that holds the tools, by id',
    ask: { to: 'GET /v1/tools' },
    answer: {
      status: 200,
      body: {
        tools: [
          { toolId: 'openwop:ask', source: 'host-extension', safetyTier: 'read', egress: 'none' },
          { toolId: 'openwop:forget', safetyTier: 'write', replayPolicy: 'idempotent' },
        ],
      },
    },
  },
  {
    at: '2.18',
    says: 'the catalogue can be asked for one source',
    ask: { to: 'GET /v1/tools?source=connector' },
    answer: { status: 200, body: { tools: [] } },
  },
  {
    at: '2.18',
    says: 'a source that is none is refused',
    ask: { to: 'GET /v1/tools?source=shop' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: '2.18',
    says: 'a tool is read by its id',
    ask: { to: 'GET /v1/tools/openwop:time' },
    answer: {
      status: 200,
      body: { toolId: 'openwop:time', safetyTier: 'read', replayPolicy: 'non-deterministic', approval: 'never' },
    },
  },
  {
    at: '2.18',
    says: 'an id may be written with its colon escaped',
    ask: { to: 'GET /v1/tools/openwop%3Atime' },
    answer: { status: 200, body: { toolId: 'openwop:time' } },
  },
  {
    at: '2.18',
    says: 'a tool that the tenant may not use is not found, like one that nobody has',
    ask: { to: 'GET /v1/tools/openwop%3Atime', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.18',
    says: 'fetching is no tool where nothing may be fetched',
    ask: { to: 'GET /v1/tools/openwop:http.fetch' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: '2.18, 5.7',
    says: 'a run whose list of tools is none is refused',
    ask: { to: 'POST /v1/runs', body: { workflowId: 'done', configurable: { 'cairn.tools': 'openwop:time' } } },
    answer: { status: 400, error: 'validation_error' },
  },
];
