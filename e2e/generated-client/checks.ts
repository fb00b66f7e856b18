/**
 * The types that `openapi-typescript` generates, next to the client's own. Only the compiler reads this file, after
 * `generate.test.ts` has written `dist/api.ts`.
 */
import type { Client, Delivery, EventDoc, EventType, InboxChange, Json } from '@cairn/client';
import type { Closed } from '@cairn/protocol';
import type { components, operations } from './dist/api.ts';

const holds = <_Claim extends true>(): void => undefined;

type To<From, Into> = [From] extends [Into] ? true : false;
/** Each fits where the other is expected. */
type Both<Generated, Own> = [Generated] extends [Plain<Own>] ? To<Own, Generated> : false;

/** Own types with any JSON value as `unknown`: generated types cannot recurse through lists. */
type Plain<Value> = [Json] extends [Value]
  ? unknown
  : Value extends readonly (infer Item)[]
    ? readonly Plain<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Plain<Value[Key]> }
      : Value;

type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
type InJson<Content> = Content extends { readonly 'application/json': infer Body } ? Body : never;
type Success = 200 | 201 | 202;
type Answer<Id extends keyof operations> = {
  readonly [Status in keyof operations[Id]['responses'] & Success]: operations[Id]['responses'][Status] extends {
    readonly content: infer Content;
  }
    ? InJson<Content>
    : never;
}[keyof operations[Id]['responses'] & Success];
type Body<Id extends keyof operations> = operations[Id] extends { readonly requestBody?: infer Sent }
  ? NonNullable<Sent> extends { readonly content: infer Content }
    ? InJson<Content>
    : never
  : never;
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

type Returned<Call extends (...args: never) => Promise<unknown>> = Awaited<ReturnType<Call>>;
type First<Call extends (...args: never) => unknown> = Call extends (first: infer Value, ...rest: never) => unknown
  ? NonNullable<Value>
  : never;
type Runs = Client['runs'];

// Answers.
holds<Both<Answer<'createRun'>, Returned<Runs['create']>>>();
holds<Both<Answer<'getRun'>, Returned<Runs['get']>>>();
holds<Both<Answer<'getRunArtifact'>, Returned<Runs['artifact']>>>();
holds<Both<Answer<'diffRuns'>, Returned<Runs['diff']>>>();
holds<Both<Answer<'listRuns'>, Returned<Runs['list']>>>();
holds<Both<Answer<'cancelRun'>, Returned<Runs['cancel']>>>();
holds<Both<Answer<'deleteRun'>, Returned<Runs['delete']>>>();
holds<Both<Answer<'getRetention'>, Returned<Client['retention']>>>();
holds<Both<Answer<'cancelRuns'>, Returned<Runs['bulkCancel']>>>();
holds<Both<Answer<'pauseRun'>, Returned<Runs['pause']>>>();
holds<Both<Answer<'forkRun'>, Returned<Runs['fork']>>>();
holds<Both<Answer<'retryRun'>, Returned<Runs['retry']>>>();
holds<Both<Answer<'resumeRun'>, Returned<Runs['resume']>>>();
holds<Both<Answer<'answerInterrupt'>, Returned<Runs['answer']>>>();
holds<Both<Answer<'listRunInterrupts'>['interrupts'], Returned<Client['interrupts']['ofRun']>>>();
holds<Both<Answer<'listPendingInterrupts'>, Returned<Client['interrupts']['pending']>>>();
holds<Both<Answer<'mintInterruptToken'>, Returned<Client['interrupts']['token']>>>();
holds<Both<Answer<'inspectInterrupt'>, Returned<Client['interrupts']['get']>>>();
holds<Both<Answer<'getInbox'>, Returned<Client['inbox']['list']>>>();
holds<Both<Schema<'InboxChange'>, InboxChange>>();
holds<Both<Answer<'registerWorkflow'>, Returned<Client['workflows']['register']>>>();
holds<Both<Answer<'getWorkflow'>, Returned<Client['workflows']['get']>>>();
holds<Both<Answer<'listWorkflows'>, Returned<Client['workflows']['list']>>>();
holds<Both<Answer<'listNodeTypes'>['nodeTypes'], Returned<Client['workflows']['nodeTypes']>>>();
holds<Both<Answer<'listAgents'>['agents'], Closed<Returned<Client['agents']['list']>>>>();
holds<Both<Answer<'getAgent'>, Closed<Returned<Client['agents']['get']>>>>();
holds<Both<Answer<'listTools'>['tools'], Returned<Client['tools']['list']>>>();
holds<Both<Answer<'getTool'>, Returned<Client['tools']['get']>>>();
holds<Both<Answer<'installPack'>, Returned<Client['packs']['install']>>>();
holds<Both<Answer<'listPacks'>['packs'], Returned<Client['packs']['list']>>>();
holds<Both<Answer<'registerWebhook'>, Returned<Client['webhooks']['register']>>>();
holds<Both<Answer<'listWebhooks'>['webhooks'], Returned<Client['webhooks']['list']>>>();
holds<Both<Answer<'getCallbackSecret'>, Returned<Client['webhooks']['callbackSecret']>>>();
holds<Both<Answer<'getDiscovery'>, Closed<Returned<Client['discovery']>>>>();
holds<Both<Answer<'getCalibration'>, Returned<Client['calibration']>>>();
holds<Both<Answer<'getLimits'>, Returned<Client['limits']>>>();
holds<Both<Answer<'listPeers'>, Returned<Client['peers']['list']>>>();
holds<Both<Answer<'checkPeer'>, Returned<Client['peers']['check']>>>();
holds<Both<Answer<'checkChain'>, Returned<Runs['chain']>>>();

// Requests: what the client takes can be sent.
holds<To<First<Runs['create']>, Body<'createRun'>>>();
holds<To<First<Client['workflows']['register']>, Body<'registerWorkflow'>>>();
holds<Both<First<Client['packs']['install']>, Body<'installPack'>>>();
holds<Both<First<Client['peers']['check']>, Body<'checkPeer'>>>();
holds<Both<First<Client['webhooks']['register']>, Body<'registerWebhook'>>>();
holds<To<First<Runs['list']>, Query<'listRuns'>>>();
holds<To<First<Client['tools']['list']>, Query<'listTools'>>>();
holds<To<{ readonly resumeValue: Json }, Body<'answerInterrupt'>>>();

// Events: each is held to the payload of its type. Own ids are branded strings, so only one way.
holds<To<EventDoc, Schema<'RunEventDoc'>>>();
holds<To<Returned<Client['events']['all']>, Answer<'getEvents'>['events']>>();
holds<To<Returned<Client['events']['poll']>, Answer<'pollEvents'>>>();
holds<To<Pick<Delivery, 'runId' | 'workspaceId' | 'event'>, Schema<'WebhookDelivery'>>>();
holds<Both<Schema<'KnownEventDoc'>['type'], EventType>>();

export function narrowed(event: Schema<'KnownEventDoc'>): string {
  if (event.type === 'run.failed') return event.payload.error.message;
  // @ts-expect-error: a payload has the fields of its own type only
  if (event.type === 'run.completed') return event.payload.error;
  return event.type;
}

// @ts-expect-error: the checks can fail
holds<Both<Answer<'getRun'>, Returned<Runs['list']>>>();
// @ts-expect-error: a body that is no run
holds<To<{ readonly workflow: string }, Body<'createRun'>>>();
