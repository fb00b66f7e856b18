cd /home/someone/project
cd /tmp/project
curl https://registry.example.com/zod
curl http://127.0.0.1:4700/v1/runs
cd /builds/checkout/src
cd /builds/checkout-other/src
