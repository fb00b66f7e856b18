import { expect, test } from 'vitest';
import { payloadId } from '../../ids.ts';
import { comparable } from './comparable.ts';

/** What a run with this token writes about itself. */
const payloadOf = (token: string) => ({
  idToken: token,
  callId: payloadId(token, 'call', 'a#0'),
  refId: payloadId(token, 'call', 'a#0'),
  value: { messageId: payloadId(token, 'msg', 'a'), text: 'call_me_later' },
});

test('the ids that two runs derive from themselves are no difference, and other texts stay', () => {
  const [one, other] = ['0123456789ab', 'fedcba987654'].map((token) =>
    comparable({ type: 'channel.written', payload: payloadOf(token) }, []),
  );
  expect(one).toEqual(other);
  expect(one).toEqual({ refId: 'call_{token}_a#0', value: { messageId: 'msg_{token}_a', text: 'call_me_later' } });
});
