/** Now in whole Unix seconds: the time unit of users, tools, grants and keys. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
