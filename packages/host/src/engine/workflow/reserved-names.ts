/** Whether every JavaScript object has this property, such as `constructor`. Definitions must not use such names. */
export const isReservedName = (name: string): boolean => name in {};
