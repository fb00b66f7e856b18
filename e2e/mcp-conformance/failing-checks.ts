/**
 * The checks that fail in each scenario that the page lists, so that a listed scenario excuses nothing else. A check that
 * begins to pass is removed here, and its scenario from the page once all pass.
 */
import type { Revision } from './suite.ts';

type Checks = Readonly<Record<string, readonly string[]>>;

export const failingChecks: Readonly<Record<Revision, Checks>> = {
  '2025-11-25': {
    'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
    'resources-subscribe': ['resources-subscribe'],
    'resources-unsubscribe': ['resources-unsubscribe'],
    'tools-call-sampling': ['tools-call-sampling'],
    'tools-call-with-logging': ['tools-call-with-logging'],
  },
  '2026-07-28': {
    'http-custom-header-server-validation': [
      'sep-2243-server-no-xmcp-tool',
      'sep-2243-server-decode-base64',
      'sep-2243-server-validate-param-match',
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-reject-param-mismatch',
    ],
    'input-required-result-basic-list-roots': ['sep-2322-list-roots-incomplete'],
    'input-required-result-basic-sampling': ['sep-2322-sampling-incomplete'],
    'input-required-result-capability-check': ['sep-2322-respect-client-capabilities'],
    'input-required-result-multiple-input-requests': ['sep-2322-multiple-inputs-incomplete'],
    'json-schema-2020-12': ['json-schema-2020-12-tool-found'],
    'server-stateless': [
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-server-no-log-without-loglevel',
    ],
    'tasks-capability-negotiation': [
      'tasks-extension-advertised',
      'sep-2663-tasks-methods-non-declaring',
      'sep-2663-server-rejects-undeclared-client',
      'tasks-per-request-meta-opt-in',
    ],
    'tasks-dispatch-and-envelope': [
      'tasks-server-directed-creation-no-hint',
      'sep-2663-legacy-task-param-ignored',
      'tasks-immediate-result-shortcut',
      'tasks-result-type-complete-on-non-task-responses',
      'sep-2663-durable-create-strong-consistency',
      'sep-2663-tasks-get-invalid-task-id-32602',
    ],
    'tasks-lifecycle': [
      'tasks-sync-tool-call',
      'sep-2663-result-type-task-on-create',
      'sep-2663-tasks-get-status-working',
      'sep-2663-tasks-get-status-completed',
      'sep-2663-tool-error-uses-completed-status',
      'sep-2663-tasks-get-status-failed',
      'sep-2663-cancel-ack-empty-result',
      'tasks-cancel-terminal-idempotent-ack',
    ],
    'tasks-mrtr-composition': ['sep-2663-mrtr-synchronous-before-task-creation'],
    'tasks-mrtr-input': [
      'sep-2663-tasks-get-status-input-required',
      'tasks-mrtr-tasks-update-resumes',
      'tasks-mrtr-partial-fulfillment',
    ],
    'tasks-request-headers': [
      'tasks-headers-tolerate-mcp-method-on-tools-call',
      'sep-2663-routing-headers-accepted-on-tasks-get',
      'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
    ],
    'tasks-request-state-removal': ['tasks-request-state-removal-setup'],
    'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
    'tasks-wire-fields': [
      'tasks-wire-field-renames',
      'tasks-no-early-ttl-expiry',
      'tasks-no-related-task-meta-on-inlined-result',
    ],
  },
};
