/** The rows that ask a person what a suspended tool needs: a question, or a sign-in. */
import { REQUIRE_USER, SIGN_IN_EVENT } from '@cairn/protocol';
import { askDrafts, nextInterruptId } from '../../engine/core/interrupts.ts';
import type { Draft } from '../../engine/core/state.ts';
import type { NodeContext } from '../../engine/workflow/node-type.ts';
import type { PersonQuestion } from '../tools/tool.ts';
import { QUESTION_ID } from './state/evolve-tool-calls.ts';

export function questionRows({ state, node }: Pick<NodeContext, 'state' | 'node'>, question: PersonQuestion): Draft[] {
  const { prompt, timeoutMs } = question;
  if (question.kind === 'ask') {
    const { schema, requireUser = false, urgency, remote, subkind } = question;
    const asked = { id: QUESTION_ID, question: prompt, ...(schema === undefined ? {} : { schema }) };
    const data = {
      questions: [asked],
      ...(requireUser ? { contextType: REQUIRE_USER } : {}),
      ...(remote === undefined ? {} : { remote }),
      ...(subkind === undefined ? {} : { metadata: { subkind } }),
    };
    return askDrafts(state, { nodeId: node.id, kind: 'clarification', data, timeoutMs, urgency });
  }
  const { authType, provider, scopes, authorizeAt, encryptionKey, infoUrl } = question;
  const authUrl =
    authorizeAt === undefined ? question.authUrl : `${authorizeAt}/${nextInterruptId(state, node.id)}/authorize`;
  const correlation = {
    authType,
    prompt,
    ...(provider === undefined ? {} : { provider }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(authUrl === undefined ? {} : { authUrl }),
    ...(encryptionKey === undefined ? {} : { encryptionKey }),
    ...(infoUrl === undefined ? {} : { infoUrl }),
  };
  const data = { eventType: SIGN_IN_EVENT, correlation };
  return askDrafts(state, { nodeId: node.id, kind: 'external-event', data, timeoutMs });
}
