# SPDX-License-Identifier: Apache-2.0
"""Independent of the C++: definitions in float64/float32 with numpy; nearest by brute force."""
import numpy as np, json
f=np.float32
NF4=np.array([-1,-0.6961928009986877,-0.5250730514526367,-0.39491748809814453,-0.28444138169288635,-0.18477343022823334,-0.09105003625154495,0,0.07958029955625534,0.16093020141124725,0.24611230194568634,0.33791524171829224,0.44070982933044434,0.5626170039176941,0.7229568362236023,1],dtype=f)
def dyn(signed):
    d=[0.0,1.0]
    for e in range(7):
        n=2**e*(1 if signed else 2)
        b=np.linspace(0.1,1,n+1); v=10.0**(e-6)*(b[:-1]+b[1:])/2
        d+=list(v)
        if signed: d+=list(-v)
    return np.sort(np.array(d)).astype(f)
S,U=dyn(True),dyn(False)
def near(x,code):  # ties to lower: argmin takes the first
    return np.abs(x.astype(np.float64)[:,None]-code.astype(np.float64)[None,:]).argmin(1).astype(np.uint8)
def q8(x,code,B=256):
    c=[];a=[]
    for i in range(0,len(x),B):
        b=x[i:i+B]; m=np.abs(b).max(); a.append(m)
        c.append(near((b*(f(1)/m if m else m)).astype(f),code))
    return np.concatenate(c),np.array(a,dtype=f)
def fnv(b):
    h=0xcbf29ce484222325
    for v in bytes(b): h=((h^v)*0x100000001b3)&(2**64-1)
    return h
# a generator that both sides can write in three lines
def numbers(n,seed):
    out=[];s=seed
    for _ in range(n):
        s=(s*6364136223846793005+1442695040888963407)&(2**64-1)
        a=((s>>40)/2.0**24)*2-1
        s=(s*6364136223846793005+1442695040888963407)&(2**64-1)
        b=(s>>40)/2.0**24
        out.append(f(f(a)*f(b)*f(b)))
    return np.array(out,dtype=f)
def q4(x):
    idx=[];a=[]
    for i in range(0,len(x),64):
        b=x[i:i+64]; m=np.abs(b).max(); a.append(m)
        idx.append(near((b*(f(1)/m)).astype(f),NF4))
    idx=np.concatenate(idx)
    if len(idx)%2: idx=np.append(idx,np.uint8(7))
    return (idx[::2]<<4|idx[1::2]).astype(np.uint8),np.array(a,dtype=f)
def adam8(w,g,m8,ma,v8,va,t,lr,b1,b2,eps,wd):
    """A step of AdamW on states in eight bits: Adam's constants in float64, elements in float32."""
    blk=np.arange(len(w))//256
    m=S[m8]*ma[blk]; v=U[v8]*va[blk]
    ok=np.isfinite(g); gg=np.where(ok,g,f(0)).astype(f)
    m=(m*f(b1)+(f(1)-f(b1))*gg).astype(f); v=(v*f(b2)+((f(1)-f(b2))*gg)*gg).astype(f)
    m=np.where(ok,m,f(0)); v=np.where(ok,v,f(0))
    c1=1-b1**t; c2=np.sqrt(1-b2**t)
    step=f(lr*c2/c1); e=f(eps*c2); keep=f(1-lr*wd)
    with np.errstate(all='ignore'): nw=((w-step*(m/(np.sqrt(v)+e)))*keep).astype(f)
    w=np.where(ok,nw,w)
    near_m,ma=q8(m,S); v8,va=q8(v,U)
    # Small negative moments keep their sign.
    return w,np.where((m<0)&(near_m==127),126,near_m).astype(np.uint8),ma,v8,va,m,v
if __name__=='__main__':
    print('signed map fnv',hex(fnv(S.tobytes())),'unsigned',hex(fnv(U.tobytes())), S[0],S[127],S[-1],U[:3],U[-2:])
    x=np.array([0.5,-1.25,2.0,0.0,-0.3,1.1,-2.0,0.07,1.9],dtype=f)
    p,a=q4(x); print('small',[hex(v) for v in p],a)
    x=numbers(64*300+37,7)
    print('first numbers',[float(v) for v in x[:3]])
    p,a=q4(x); print('packed fnv',hex(fnv(p.tobytes())),len(p),'absmax fnv',hex(fnv(a.tobytes())),len(a), 'head',[hex(v) for v in p[:8]])
    off=f(a.astype(np.float64).sum()/len(a)); c,m=q8((a-off).astype(f),S)
    print('offset',repr(float(off)),'nested',[int(v) for v in c[:8]],hex(fnv(c.tobytes())),[float(v) for v in m])
    sc=(S[c]*m[np.arange(len(c))//256]).astype(f)+off
    idx=np.empty(len(p)*2,dtype=np.uint8); idx[::2]=p>>4; idx[1::2]=p&15
    idx=idx[:len(x)]
    print('deq nested fnv',hex(fnv((NF4[idx]*sc[np.arange(len(x))//64]).astype(f).tobytes())))
    print('deq fnv',hex(fnv((NF4[idx]*a[np.arange(len(x))//64]).astype(f).tobytes())))
    x=numbers(1000,11); c,m=q8(x,S); print('q8 signed',hex(fnv(c.tobytes())),[int(v) for v in c[:6]],[repr(float(v)) for v in m])
    y=np.abs(x); c,m=q8(y,U); print('q8 unsigned',hex(fnv(c.tobytes())),[int(v) for v in c[:6]])
    # three steps of AdamW 8 bit, float64 Adam constants, float32 elementwise
    n=600; w=numbers(n,3); mc=np.full(n,127,np.uint8); vc=np.zeros(n,np.uint8); ma=np.zeros(3,f); va=np.zeros(3,f)
    for t in range(1,4):
        g=numbers(n,100+t)
        if t==2: g[5]=np.nan; g[300]=np.inf
        w,mc,ma,vc,va,_,_=adam8(w,g,mc,ma,vc,va,t,1e-2,0.9,0.999,1e-8,0.1)
    print('adam w fnv',hex(fnv(w.tobytes())),'m',hex(fnv(mc.tobytes())),'v',hex(fnv(vc.tobytes())),[repr(float(a)) for a in w[:4]],[int(c) for c in mc[:6]],[int(c) for c in vc[:6]],[repr(float(a)) for a in ma],[repr(float(a)) for a in va])
