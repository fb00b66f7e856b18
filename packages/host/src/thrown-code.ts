/** The code that Node and libraries give their errors, such as `ENOENT`. Anything can be thrown, so it may be anything. */
export const thrownCode = (thrown: unknown): unknown =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
