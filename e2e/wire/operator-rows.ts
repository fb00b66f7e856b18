/** Host extension: the chain of a run, and the other hosts, for operators. */
import { given, type WireRow } from './wire-row.ts';

const chain = 'GET /v1/host/cairn/runs/{run}/chain';
const check = 'POST /v1/host/cairn/peers/check';

export const operatorRows: readonly WireRow[] = [
  {
    at: 'chain',
    says: 'the chain of a run is whole',
    given: given.done,
    ask: { to: chain, as: 'auditor' },
    answer: { status: 200, body: { runId: '{run}', problems: [], next: null } },
  },
  {
    at: 'chain',
    says: 'a position that is no number is 400',
    given: given.done,
    ask: { to: `${chain}?after=last`, as: 'auditor' },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'chain',
    says: 'an unknown run is 404',
    ask: { to: 'GET /v1/host/cairn/runs/run_unknown/chain', as: 'auditor' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'chain',
    says: 'a key without audit:read is refused',
    given: given.done,
    ask: { to: chain, as: 'reader' },
    answer: { status: 403, error: 'forbidden' },
  },
  {
    at: 'peers',
    says: 'the peers of the configuration are listed, without keys',
    ask: { to: 'GET /v1/host/cairn/peers', as: 'auditor' },
    answer: {
      status: 200,
      body: {
        hostId: 'wire-host',
        peers: [{ hostId: 'beta', url: 'http://127.0.0.1:9', answersForUsers: false, hasKey: false, calls: [] }],
      },
    },
  },
  {
    at: 'peers',
    says: 'a peer that does not answer is a finding, not an error',
    ask: { to: check, as: 'auditor', body: { hostId: 'beta' } },
    answer: { status: 200, body: { hostId: 'beta', findings: [{ subject: 'discovery', state: 'bad' }] } },
  },
  {
    at: 'peers',
    says: 'a host that the configuration does not list is 404',
    ask: { to: check, as: 'auditor', body: { hostId: 'gamma' } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at: 'peers',
    says: 'an address in the request is 400',
    ask: { to: check, as: 'auditor', body: { hostId: 'beta', url: 'http://127.0.0.1:80' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at: 'peers',
    says: 'a key without audit:read is refused',
    ask: { to: check, body: { hostId: 'beta' } },
    answer: { status: 403, error: 'forbidden' },
  },
];
